#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# make install and uninstall: what is put where, for whom to read, and that it goes as it came.

setup() {
	root=$BATS_TEST_TMPDIR/root
	share=usr/local/share
	mkdir "$root"
}

# Make's own words, of a bats that make started, are not for this make; nor is whose build it is.
quietly_make() { env -u MAKEFLAGS -u MAKELEVEL -u O make -s "$@" DESTDIR="$root" >"$BATS_TEST_TMPDIR/log" 2>&1; }

# tree: all that is there, with mode and where links point to.
tree() { (cd "$root" && find . -mindepth 1 -printf '%y %m %P %l\n' | sed 's/ $//' | LC_ALL=C sort -k 3); }

# wanted PROGRAM_FOLDER SHARE ZSH_FOLDER: the names of all files, and nothing else's.
wanted() {
	local f
	for f in iosonar nvme_latency nvme_trace; do echo "$1/$f"; done
	echo "$2/bash-completion/completions/iosonar"
	echo "$2/zsh/$3/_iosonar"
	echo "$2/fish/vendor_completions.d/iosonar.fish"
	for f in LICENSE LICENSES/*; do echo "$2/doc/iosonar/${f##*/}"; done
	for f in man/*.[78]; do echo "$2/man/man${f##*.}/${f##*/}.gz"; done
}

files() { (cd "$root" && find . -not -type d -printf '%P\n' | LC_ALL=C sort); }

@test "install puts program, manuals, completion and licences, for everybody to read" {
	umask 077 # a careful root
	quietly_make install
	[ "$(files)" = "$(wanted usr/local/bin "$share" site-functions | LC_ALL=C sort)" ]
	[ "$(tree | grep -cvE '^d 755 |^f 644 |^f 755 usr/local/bin/iosonar$|^l 777 usr/local/bin/nvme_(trace|latency) iosonar$')" -eq 0 ]
	[[ $(stat -c %a "$root/usr/local/bin/iosonar") == 755 ]]
}

@test "what is installed is whole" {
	quietly_make install
	[ "$("$root/usr/local/bin/iosonar" --version | head -n 1)" = "iosonar $(cat VERSION)" ]
	for f in man/*.[78]; do
		zcat "$root/$share/man/man${f##*.}/${f##*/}.gz" | cmp - "$f"
	done
	bash -c '. "$1" && complete -p iosonar' _ "$root/$share/bash-completion/completions/iosonar"
	head -n 1 "$root/$share/zsh/site-functions/_iosonar" | grep -qx '#compdef iosonar'
}

@test "PREFIX, ZSH_FUNCTIONS and LICENSES are heeded" {
	quietly_make install PREFIX=/opt/x ZSH_FUNCTIONS=vendor-completions LICENSES=
	[ "$(files)" = "$(wanted opt/x/bin opt/x/share vendor-completions | grep -v /doc/ | LC_ALL=C sort)" ]
	quietly_make uninstall PREFIX=/opt/x ZSH_FUNCTIONS=vendor-completions LICENSES=
	[ -z "$(files)" ]
}

@test "LINKS are the program's other names" {
	quietly_make install LINKS='one two'
	[ "$(readlink "$root/usr/local/bin/one")" = iosonar ]
	[ "$("$root/usr/local/bin/two" --version | head -n 1)" = "iosonar $(cat VERSION)" ]
	quietly_make install LINKS='one two' # again, over itself
	quietly_make uninstall LINKS='one two'
	[ -z "$(files)" ]
}

@test "uninstall leaves the tree as install found it" {
	local d
	for d in bin share/man/man7 share/man/man8 share/zsh/site-functions share/bash-completion/completions share/fish/vendor_completions.d share/doc; do
		mkdir -p "$root/usr/local/$d"
		echo "of somebody else" >"$root/usr/local/$d/iosonar-neighbour"
	done
	chmod 2775 "$root/usr/local/share/man/man8" # Debian's way, for its group staff
	ln -s /nowhere "$root/usr/local/bin/nvme_other"
	tree >"$BATS_TEST_TMPDIR/before"
	quietly_make install
	[ "$(files | wc -l)" -gt 10 ]
	quietly_make uninstall
	diff "$BATS_TEST_TMPDIR/before" <(tree)
}

@test "uninstall leaves what somebody put beside our licences, and a system without us alone" {
	quietly_make uninstall
	[ -z "$(tree)" ]
	quietly_make install
	echo "notes" >"$root/$share/doc/iosonar/notes"
	quietly_make uninstall
	[ "$(files)" = "$share/doc/iosonar/notes" ]
}

# commit_of FOLDER [WORD]...: what make takes for the commit there.
commit_of() { (cd "$1" && shift && env -u MAKEFLAGS -u MAKELEVEL -u O -u COMMIT make -s commit "$@"); }

@test "the commit is that of git, of the file COMMIT or of the variable, or unknown" {
	local tree=$BATS_TEST_TMPDIR/tree git=(git -c user.name=x -c user.email=x@localhost -C "$BATS_TEST_TMPDIR/tree") commit
	mkdir "$tree"
	cp Makefile VERSION COMMIT .gitattributes "$tree"
	[ "$(commit_of "$tree")" = unknown ]
	"${git[@]}" init -q && "${git[@]}" add -A && "${git[@]}" commit -qm one
	commit=$("${git[@]}" rev-parse HEAD | cut -c1-12)
	[ "$(commit_of "$tree")" = "$commit" ]
	"${git[@]}" tag v1 # a name is not a commit
	[ "$(commit_of "$tree")" = "$commit" ]
	echo 9.9.9 >"$tree/VERSION"
	[ "$(commit_of "$tree")" = "$commit-dirty" ]
	[ "$(commit_of "$tree" COMMIT=abc)" = abc ]
	mkdir "$tree.archive" && "${git[@]}" archive HEAD | tar x -C "$tree.archive"
	[ "$(commit_of "$tree.archive")" = "$commit" ]
	echo "$commit-dirty" >"$tree.archive/COMMIT" # as make deb has it
	[ "$(commit_of "$tree.archive")" = "$commit-dirty" ]
}
