#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# contrib/rpm/iosonar.spec: rpm reads it and packs the source, and it packs what make install puts, and nothing else. tests/rpm
# builds it, which takes minutes.

setup() {
	tmp=$BATS_TEST_TMPDIR
	spec=contrib/rpm/iosonar.spec
	command -v rpmbuild >/dev/null || skip "rpmbuild is missing"
	# Names and places of Fedora, which Debian's rpm does not define.
	macros=(--define "_topdir $tmp/rpm" --define "_sourcedir $tmp" --define "dist .fc" --define "_prefix /usr" --define "_mandir /usr/share/man")
}

@test "rpm reads the spec, and its version is VERSION" {
	rpmspec "${macros[@]}" -P "$spec" >"$tmp/out" 2>"$tmp/err"
	[ ! -s "$tmp/err" ] || { cat "$tmp/err"; return 1; }
	[ "$(grep -c '%{' "$tmp/out")" -eq 0 ]
	[ "$(rpmspec "${macros[@]}" -q --srpm --qf '%{version}' "$spec")" = "$(cat VERSION)" ]
	[ "$(rpmspec "${macros[@]}" -q --qf '%{name} %{license}\n' "$spec")" = "iosonar BSD-2-Clause AND GPL-2.0-only" ]
}

@test "rpmbuild makes a source package with the whole tree" {
	git rev-parse --git-dir >/dev/null 2>&1 || skip "there is no git here"
	local version
	version=$(cat VERSION)
	git archive --prefix="iosonar-$version/" -o "$tmp/iosonar-$version.tar.gz" HEAD
	rpmbuild -bs --nodeps "${macros[@]}" "$spec" >"$tmp/out" 2>&1 || { cat "$tmp/out"; return 1; }
	[ "$(rpm -qpl "$tmp"/rpm/SRPMS/iosonar-"$version"-1.*.src.rpm 2>/dev/null | sort | paste -sd' ')" = "iosonar-$version.tar.gz iosonar.spec" ]
	tar xOf "$tmp/iosonar-$version.tar.gz" "iosonar-$version/COMMIT" | grep -qx "$(git rev-parse HEAD)"
}

# As rpm would: a pattern of %files and what it matches below the root.
@test "%files has what make install puts, and nothing else" {
	env -u MAKEFLAGS -u MAKELEVEL -u O make -s install DESTDIR="$tmp/root" PREFIX=/usr LICENSES= >"$tmp/log" 2>&1
	local place
	place=$tmp/root/usr$(sed -n 's/^install -Dpm 644 -t %{buildroot}%{_prefix}\(.*\) contrib.*service contrib.*/\1/p' "$spec")
	mkdir -p "$place"
	cp contrib/systemd/iosonar.service contrib/systemd/iosonar.socket "$place/"
	rpmspec "${macros[@]}" -P "$spec" | sed -n '/^%files/,/^%changelog/p' | grep '^/' >"$tmp/patterns"
	[ "$(wc -l <"$tmp/patterns")" -ge 10 ]
	local pattern
	while read -r pattern; do
		compgen -G "$tmp/root$pattern" || { echo "nothing is $pattern" >&2; return 1; }
	done <"$tmp/patterns" | sort -u >"$tmp/packed"
	diff <(find "$tmp/root" -not -type d | sort) "$tmp/packed"
}

@test "it asks for what the Debian package asks for" {
	local library
	for library in libbpf libelf libdw zlib libzstd sqlite3 libedit libmicrohttpd ncursesw; do
		grep -q "^BuildRequires: *pkgconfig($library)" "$spec" || { echo "no $library"; return 1; }
	done
	# shellcheck disable=SC2013 # words
	for library in $(grep -oE 'exists [a-z0-9]+' Makefile | cut -d' ' -f2 | sort -u); do
		grep -q "^BuildRequires: *pkgconfig($library)" "$spec" || { echo "no $library"; return 1; }
	done
}
