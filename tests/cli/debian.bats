#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What debian/ states agrees with the tree: versions, licences, tests. tests/packaging builds and installs the package.

ours() { if [ -e .git ]; then git ls-files -co --exclude-standard; else find . -type f -not -path './build*' -printf '%P\n'; fi; }

@test "the newest entry of the changelog is VERSION" {
	[ "$(sed -n '1s/^iosonar (\([^)]*\)) .*/\1/p' debian/changelog)" = "$(cat VERSION)" ]
}

@test "debian/README.source says why the policy is the one of debian/control" {
	local version
	version=$(sed -n 's/^Standards-Version: //p' debian/control)
	[ -n "$version" ]
	grep -qF "Standards-Version. $version is the policy of Debian" debian/README.source
}

@test "files have the licences that debian/copyright states" {
	local file licence want nr=0
	while read -r file; do
		[ -e "$file" ] || continue
		licence=$(head -5 "$file" | tr -d '\0' | grep -oE -m1 'SPDX-License-Identifier: [A-Za-z0-9-]+(\.0-only)?( OR [A-Za-z0-9-]+)?') || continue
		case $file in
		src/bpf/*) want="GPL-2.0-only" ;;
		src/wire/*) want="GPL-2.0-only OR BSD-2-Clause" ;;
		*) want="BSD-2-Clause" ;;
		esac
		[ "${licence#*: }" = "$want" ] || { echo "$file: ${licence#*: }, not $want"; return 1; }
		nr=$((nr + 1))
	done < <(ours)
	[ "$nr" -gt 500 ]
	[ "$(grep -A2 '^Files: src/bpf/\*$' debian/copyright | grep -c '^License: GPL-2.0-only$')" -eq 1 ]
	[ "$(grep -A2 '^Files: src/wire/\*$' debian/copyright | grep -c '^License: GPL-2.0-only or BSD-2-Clause$')" -eq 1 ]
	for licence in BSD-2-Clause GPL-2.0-only; do
		grep -A1 "^License: $licence\$" debian/copyright | grep -q '^ '
	done
}

@test "what is linked from archives is named in debian/copyright" {
	local library
	# shellcheck disable=SC2013,SC2016 # words, and sed's
	for library in $(sed -n 's/.*-l:\(lib[a-z]*\)\.a.*/\1/p; s/^LIBS += $(if $(HAVE_IBERTY),-l\(iberty\))/lib\1/p; s/^LIBBPF := .*\/\(libbpf\)\.a/\1/p' Makefile | sort -u); do
		grep -q "linked from $library.a\|$library.a" debian/copyright || { echo "$library"; return 1; }
		echo "$library" >>"$BATS_TEST_TMPDIR/named"
	done
	[ "$(wc -l <"$BATS_TEST_TMPDIR/named")" -eq 3 ]
}

@test "debian/tests has a test for machines of its own and one for all, and both are there" {
	local test nr=0
	# shellcheck disable=SC2013 # words
	for test in $(sed -n 's/^Tests: //p' debian/tests/control); do
		[ -x "debian/tests/$test" ]
		nr=$((nr + 1))
	done
	[ "$nr" -eq 2 ]
	[ "$(grep -c '^Restrictions:.*isolation-machine' debian/tests/control)" -eq 1 ]
	for test in $(sed -n 's/.* \(tests\/[a-z]*\/.*\)/\1/p' debian/tests/captures debian/tests/live | tr ' ' '\n' | grep ^tests/); do
		[ -e "$test" ] || { echo "there is no $test"; return 1; }
	done
}

@test "build dependencies are those of tests/packages" {
	local package
	# shellcheck disable=SC2013 # words
	for package in $(sed -n 's/^packages_build=(\(.*\))$/\1/p' tests/packages); do
		case $package in gcc | libc6-dev | make) continue ;; esac # of build-essential
		sed -n '/^Build-Depends:/,/^[A-Z].*:/p' debian/control | grep -qE "[ :]$package( |,|$)" || { echo "no $package"; return 1; }
	done
}
