# SPDX-License-Identifier: BSD-2-Clause
# make [O=dir] [SAN=1] [V=1] [CC=clang]; make static release deb; make check lint install uninstall fuzz mutants bench-unit bench soak soak-serve power other everywhere.
# `./try` and `./check` install what this needs.
O ?= build
PREFIX ?= /usr/local
CC ?= gcc
CLANG ?= clang
# Ubuntu's own bpftool is a script that asks for the one of the running kernel; any of them will do.
BPFTOOL ?= $(or $(lastword $(wildcard /usr/lib/linux-tools/*/bpftool)),$(shell command -v bpftool),/usr/sbin/bpftool)
PKG_CONFIG ?= pkg-config

VERSION := $(shell cat VERSION)
# For --version: git's, "-dirty" if a file differs; without git what `git archive` or `make deb` has written into the file.
ifndef COMMIT
COMMIT := $(or $(if $(wildcard .git),$(shell git --no-optional-locks describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null)),$(shell sed '/Format/d; s/\(.\{12\}\)[0-9a-f]*/\1/' COMMIT 2>/dev/null),unknown)
endif
# The compiler's machine, not this one: it may be a cross compiler.
MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
ARCH := $(patsubst x86_64,x86,$(patsubst aarch64,arm64,$(MACHINE)))
MULTIARCH := $(MACHINE)-linux-gnu
# For another architecture: its libraries and headers (tests/vm/system), as `make other` does.
SYSROOT ?=
ifneq ($(SYSROOT),)
override CC += --sysroot=$(SYSROOT)
override PKG_CONFIG := PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(MULTIARCH)/pkgconfig PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) $(PKG_CONFIG)
endif
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)')

CFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Werror -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wundef -Wno-missing-field-initializers
, := ,
SANITIZE := $(if $(SAN),-fsanitize=address$(,)undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
# Nothing says where it was built, so that two builds of a commit are equal byte by byte (tests/release).
PLACE := -ffile-prefix-map=$(CURDIR)=.
# Skeletons come in through -isystem: they warn. So -MD, not -MMD, which would forget them and leave a stale program.
ALL_CFLAGS = -std=gnu17 $(PLACE) $(WARNINGS) $(SANITIZE) -Isrc -isystem $(O) -DVERSION='"$(VERSION)"' $(if $(HAVE_ZSTD),-DHAVE_ZSTD) $(LIBDW_CFLAGS) $(IBERTY_CFLAGS) $(SQL_CFLAGS) $(HTTP_CFLAGS) $(NCURSES_CFLAGS) -MD -MP $(CPPFLAGS) $(CFLAGS) $(EXTRA_CFLAGS)
# clang for BPF finds asm/types.h only through the multiarch folder. -mcpu=v3: clang 14 has no v4, Linux 5.10 runs v3.
BPF_CFLAGS = -O2 -g $(PLACE) -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -Wall -Wextra -Wno-unused-parameter -Werror -Isrc -idirafter $(SYSROOT)/usr/include/$(MULTIARCH) -MD -MP $(EXTRA_BPF_CFLAGS)

# Some pkg-configs put the root before a directory, others do not.
LIBBPF := $(SYSROOT)$(patsubst $(SYSROOT)%,%,$(shell $(PKG_CONFIG) --variable=libdir libbpf))/libbpf.a
LIBS := $(LIBBPF) -lelf -lz -lm
# Optional: captures are smaller with zstd.
HAVE_ZSTD := $(shell $(PKG_CONFIG) --exists libzstd && echo 1)
LIBS += $(if $(HAVE_ZSTD),-lzstd)
# Optional: names for the functions of stripped programs. Not in the static one: its archive would want many others.
HAVE_LIBDW := $(shell $(PKG_CONFIG) --exists libdw && echo 1)
LIBDW_CFLAGS := $(if $(HAVE_LIBDW),-DHAVE_LIBDW)
LIBS += $(if $(HAVE_LIBDW),-ldw)
# Optional: names of C++ and Rust as the source has them. An archive in every system that has it.
HAVE_IBERTY := $(and $(wildcard $(SYSROOT)/usr/include/libiberty/demangle.h),$(wildcard $(shell $(CC) -print-file-name=libiberty.a)))
IBERTY_CFLAGS := $(if $(HAVE_IBERTY),-DHAVE_IBERTY)
LIBS += $(if $(HAVE_IBERTY),-liberty)
# Optional: sql, and its prompt's line editing. Not in the static one either: SQLite loads what it may need.
HAVE_SQLITE := $(shell $(PKG_CONFIG) --exists sqlite3 && echo 1)
HAVE_LIBEDIT := $(if $(HAVE_SQLITE),$(shell $(PKG_CONFIG) --exists libedit && echo 1))
SQL_CFLAGS := $(if $(HAVE_SQLITE),-DHAVE_SQLITE) $(if $(HAVE_LIBEDIT),-DHAVE_LIBEDIT)
SQL_LIBS := $(if $(HAVE_SQLITE),-lsqlite3) $(if $(HAVE_LIBEDIT),-ledit)
LIBS += $(SQL_LIBS) -lm
# Optional: serve. The archive, if all that it lacks is in no_tls.c: the library brings nine others along, at every start.
# pkg-config denies it where gnutls has no headers; the archive does without.
HAVE_MICROHTTPD := $(or $(shell $(PKG_CONFIG) --exists libmicrohttpd && echo 1),$(if $(wildcard $(SYSROOT)/usr/include/microhttpd.h),1))
HTTP_TRIAL := int MHD_start_daemon(void); int main(void) { return MHD_start_daemon(); }
HTTP_ARCHIVE := $(if $(HAVE_MICROHTTPD),$(shell f=$$(mktemp) && echo '$(HTTP_TRIAL)' | \
	$(CC) -w -x c -o $$f - src/serve/no_tls.c -x none -l:libmicrohttpd.a -lpthread 2>&1 >/dev/null | grep -q . || echo 1; rm -f $$f))
HTTP_CFLAGS := $(if $(HAVE_MICROHTTPD),-DHAVE_MICROHTTPD)
HTTP_LIBS := $(if $(HTTP_ARCHIVE),-l:libmicrohttpd.a $(O)/libiosonar.a,$(if $(HAVE_MICROHTTPD),-lmicrohttpd))
LIBS += $(HTTP_LIBS)
# Not in the static program without the archive.
HTTP_NOT_STATIC := $(if $(HTTP_ARCHIVE),,1)
# Optional: the screen of top.
HAVE_NCURSES := $(shell $(PKG_CONFIG) --exists ncursesw && echo 1)
NCURSES_CFLAGS := $(if $(HAVE_NCURSES),-DHAVE_NCURSES $(shell $(PKG_CONFIG) --cflags-only-I ncursesw))
LIBS += $(if $(HAVE_NCURSES),$(shell $(PKG_CONFIG) --libs ncursesw))
# An archive does not say what it needs: Debian 13's libelf wants zstd whether we do or not.
STATIC_LIBS = $(filter-out -ldw -lmicrohttpd $(SQL_LIBS),$(LIBS)) $(shell $(PKG_CONFIG) --static --libs libelf)

BPF_SOURCES := $(sort $(wildcard src/bpf/*.bpf.c))
SKELETONS := $(BPF_SOURCES:src/bpf/%.bpf.c=$(O)/bpf/%.skel.h)
SOURCES := $(filter-out src/main.c src/static.c,$(sort $(wildcard src/*.c src/*/*.c src/*/*/*.c)))
SOURCES := $(filter-out $(BPF_SOURCES),$(SOURCES))
OBJECTS := $(SOURCES:src/%.c=$(O)/%.o)
# What pages for browsers are made of goes into the program as it is: src/pages/page.js is page_source_page_js.
PAGES := $(sort $(wildcard src/pages/*.css src/pages/*.js src/pages/completion.*))
OBJECTS += $(PAGES:src/%=$(O)/%.o)
UNIT_TESTS := $(patsubst tests/unit/%.c,$(O)/unit/%.t,$(wildcard tests/unit/*.c))
LOAD_TESTS := $(patsubst tests/load/%.c,$(O)/load/%.t,$(wildcard tests/load/*.c))
FUZZERS := $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(wildcard tests/fuzz/*.c))
FUZZ_SECONDS ?= 60
BENCHES := $(patsubst tests/bench/%.c,$(O)/bench/%,$(wildcard tests/bench/*.c))
HELPERS := $(patsubst tests/vm/%.c,$(O)/vm/%,$(wildcard tests/vm/*.c)) $(O)/vm/framed

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: FORCE all commit static release release-here strict deb check lint quick install uninstall clean unit load fuzz fuzz-run fuzzers bench-unit bench soak soak-serve power mutants helpers other everywhere

all: $(O)/iosonar

$(O)/iosonar: $(O)/main.o $(O)/libiosonar.a $(LIBBPF)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANITIZE) $(CFLAGS) $(LDFLAGS) -o $@ $(O)/main.o $(O)/libiosonar.a $(LIBS)

# For a machine without our libraries, or without any: it needs the kernel, /proc, /sys and /dev.
static: $(O)/iosonar-static

$(O)/iosonar-static: $(O)/main.o $(O)/static.o $(O)/symbol/elf_dwfl.static.o $(O)/symbol/dwarf_proto.static.o $(O)/sql/sql.static.o $(if $(HTTP_NOT_STATIC),$(O)/serve/http.static.o) $(O)/libiosonar.a $(LIBBPF)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -static -Wl,-Map=$@.map -o $@ $(filter %.o,$^) $(O)/libiosonar.a $(STATIC_LIBS)

# For machines that are not ours: the static program without symbols, what is linked into it (SPDX), and SHA256SUMS, in
# $(O)/release; of the other architecture too if `make other` has built it. Equal in every directory and at every time, given
# the same packages. SOURCE_DATE_EPOCH is the date in the SPDX document, or else the commit's, or that of debian/changelog.
RELEASE = $(O)/release
RELEASE_NAME = iosonar-$(VERSION)-linux-$(MACHINE)
STRIP ?= $(shell $(CC) -print-prog-name=strip)
release:
	$(Q)case '$(COMMIT)' in *-dirty) echo 'files differ from the commit: git commit, or give make COMMIT=NAME' >&2; exit 1 ;; esac
	$(Q)$(MAKE) --no-print-directory release-here RELEASE=$(RELEASE).new COMMIT='$(COMMIT)'
	$(Q)for d in build-amd64 build-arm64; do \
		! [ -e $$d/iosonar-static ] || [ '$(O)' != build ] || COMMIT='$(COMMIT)' tests/other release-here RELEASE=$(RELEASE).new || exit; done
	$(Q)rm -rf $(RELEASE) && mv $(RELEASE).new $(RELEASE) && cd $(RELEASE) && sha256sum iosonar-* >SHA256SUMS && cat SHA256SUMS

release-here: $(O)/iosonar-static
	$(call say,STRIP,$(RELEASE)/$(RELEASE_NAME))
	$(Q)mkdir -p $(RELEASE) && $(STRIP) -o $(RELEASE)/$(RELEASE_NAME) $< && chmod 755 $(RELEASE)/$(RELEASE_NAME)
	$(call say,SPDX,$(RELEASE)/$(RELEASE_NAME).spdx.json)
	$(Q)epoch=$${SOURCE_DATE_EPOCH:-$$([ ! -e .git ] || git log -1 --format=%ct)}; \
	epoch=$${epoch:-$$(date -d "$$(sed -n '/^ -- /{s/.*>  //p;q}' debian/changelog)" +%s)}; \
	contrib/release/sbom $(RELEASE)/$(RELEASE_NAME) $<.map $(VERSION) '$(COMMIT)' $$epoch $(SYSROOT) >$(RELEASE)/$(RELEASE_NAME).spdx.json && chmod 644 $(RELEASE)/$(RELEASE_NAME).spdx.json

# Come before the library, which has the same with libdw, SQLite and libmicrohttpd.
$(O)/%.static.o: src/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(filter-out $(LIBDW_CFLAGS) $(SQL_CFLAGS) $(HTTP_CFLAGS),$(ALL_CFLAGS)) -c -o $@ $<

# A system call that our own list refuses ends it with SIGSYS: for tests that are to see one. privilege.t and scout.t make such
# calls themselves and see them refused.
REFUSED_TESTS := $(O)/unit/privilege.t $(O)/unit/scout.t
strict: $(O)/iosonar-strict $(patsubst $(O)/unit/%,$(O)/strict/%,$(filter-out $(REFUSED_TESTS),$(UNIT_TESTS))) $(REFUSED_TESTS)

$(O)/base/privilege.strict.o: src/base/privilege.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -DPRIVILEGE_REFUSAL=SECCOMP_RET_KILL_PROCESS -c -o $@ $<

$(O)/iosonar-strict: $(O)/main.o $(O)/base/privilege.strict.o $(O)/libiosonar.a $(LIBBPF)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(O)/libiosonar.a $(LIBS)

$(O)/strict/%.t: tests/unit/%.c $(O)/base/privilege.strict.o $(O)/libiosonar.a | $(SKELETONS)
	$(call say,TEST,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -Itests -o $@ $< $(O)/base/privilege.strict.o $(O)/libiosonar.a $(LIBS)

$(O)/libiosonar.a: $(OBJECTS)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(O)/%.o: src/%.c VERSION | $(SKELETONS)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -c -o $@ $<

# Of all objects only the one that no test links: a commit does not build them again.
$(O)/main.o: private ALL_CFLAGS += -DCOMMIT='"$(COMMIT)"'
$(O)/main.o: $(O)/commit
$(O)/commit: FORCE
	$(Q)mkdir -p $(@D) && { echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' >$@; }
FORCE:

commit:
	@echo '$(COMMIT)'

$(O)/decode/syscall.o: $(O)/decode/syscall_list.h $(O)/decode/syscall_compat_list.h
$(O)/decode/syscall_list.h:
	$(call say,LIST,$@)
	$(Q)mkdir -p $(@D) && echo '#include <sys/syscall.h>' | $(CC) $(CPPFLAGS) -dM -E - | sed -n 's/^#define SYS_\([a-z0-9_]*\) .*/SYSCALL(\1)/p' | sort >$@

# Empty where the compiler's headers have no 32-bit calls.
$(O)/decode/syscall_compat_list.h:
	$(call say,LIST,$@)
	$(Q)mkdir -p $(@D) && printf '#if __has_include(<asm/unistd_32.h>)\n#include <asm/unistd_32.h>\n#endif\n' | $(CC) $(CPPFLAGS) -dM -E - | sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$$/SYSCALL(\1, \2)/p' | sort >$@

$(O)/pages/%.c: src/pages/%
	$(call say,PAGE,$@)
	$(Q)mkdir -p $(@D) && { \
		printf '#include "render/page.h"\nstatic const char text[] = {\n' && od -An -v -tx1 $< | sed 's/ \(..\)/0x\1,/g' && \
		printf '};\nconst struct page_source page_source_%s = { text, sizeof(text), "sha256-%s" };\n' '$(subst .,_,$*)' \
			"$$(sha256sum <$< | cut -c1-64 | tr a-f A-F | basenc --base16 -d | base64)"; } >$@

$(O)/pages/%.o: $(O)/pages/%.c
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(O)/bpf/%.bpf.o: src/bpf/%.bpf.c
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D) && $(CLANG) $(BPF_CFLAGS) -c -o $@ $<

# Linking leaves out DWARF, which nobody reads: half of the object.
$(O)/bpf/%.skel.h: $(O)/bpf/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen object $(@:.skel.h=.o) $< && $(BPFTOOL) gen skeleton $(@:.skel.h=.o) name $(subst .,_,$*)_bpf > $@

$(O)/unit/%.t: tests/unit/%.c $(O)/libiosonar.a | $(SKELETONS)
	$(call say,TEST,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -Itests -o $@ $< $(O)/libiosonar.a $(LIBS)

# It reads its own DWARF.
$(O)/unit/dwarf_proto.t: private ALL_CFLAGS += -g

$(O)/load/%.t: tests/load/%.c $(O)/libiosonar.a | $(SKELETONS)
	$(call say,TEST,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -Itests -o $@ $< $(O)/libiosonar.a $(LIBS)

# One that starts it.
$(O)/load/starts.t: $(O)/iosonar

$(O)/vm/%: tests/vm/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu17 $(WARNINGS) $(CFLAGS) -static -o $@ $<

# One that calls this machine's libc, which is probed, from functions that are in its stacks.
$(O)/vm/calls: tests/vm/calls.c tests/vm/usdt.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu17 $(WARNINGS) $(CFLAGS) -O0 -fno-omit-frame-pointer -o $@ $<

# One whose stacks are walked.
$(O)/vm/branches: tests/vm/branches.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu17 $(WARNINGS) $(CFLAGS) -O0 -fno-omit-frame-pointer -static -o $@ $<

# One whose stacks can only be walked by tables.
$(O)/vm/unwound: tests/vm/unwound.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu17 $(WARNINGS) $(CFLAGS) -O2 -fomit-frame-pointer -pthread -o $@ $<

# The same with frame pointers, which its libc may lack.
$(O)/vm/framed: tests/vm/unwound.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu17 $(WARNINGS) $(CFLAGS) -O2 -fno-omit-frame-pointer -pthread -o $@ $<

$(O)/vm/compiled: tests/vm/compiled.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu17 $(WARNINGS) $(CFLAGS) -O2 -fomit-frame-pointer -o $@ $<

# One that writes to our tables.
$(O)/vm/ahead: tests/vm/ahead.c src/wire/io_tables.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu17 $(WARNINGS) $(CFLAGS) -static -Isrc -o $@ $<

# One that uses the library: the guest gets what it loads, too.
$(O)/vm/probing: tests/vm/probing.c $(O)/libiosonar.a
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -o $@ $< $(O)/libiosonar.a $(LIBS)

# What pages are tested with.
$(O)/captures $(O)/live_page: $(O)/%: tests/pages/%.c $(O)/libiosonar.a
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $< $(O)/libiosonar.a $(LIBS)

# What captures of planted causes are made with.
$(O)/planted: tests/cli/planted.c $(O)/libiosonar.a
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests -o $@ $< $(O)/libiosonar.a $(LIBS)

# For the architecture that this machine is not. As root: it installs the cross compiler.
other:
	$(Q)tests/other

# All tests of guests on all kernels of both architectures; takes hours without KVM.
everywhere: all static helpers load unit other
	$(Q)tests/everywhere

unit: $(UNIT_TESTS)
load: $(LOAD_TESTS)
helpers: $(HELPERS) $(O)/captures $(O)/live_page $(O)/planted

check:
	@./check

lint:
	@tests/lint

# Before a commit: one build, the unit tests, and lint of what has changed.
quick: all unit
	@tests/quick

# For clangd and other servers of editors.
compile_commands.json: export COMPILE = $(CC) $(filter-out -MD -MP,$(ALL_CFLAGS)) -DCOMMIT='"0"' -Itests
compile_commands.json: Makefile
	$(call say,LIST,$@)
	$(Q)words=$$(printf '%s' "$$COMPILE" | sed 's/"/\\"/g'); gap='['; \
	for file in $(SOURCES) src/main.c src/static.c $(wildcard tests/unit/*.c); do \
		printf '%s\n{"directory":"%s","file":"%s","command":"%s -c %s"}' "$$gap" '$(CURDIR)' "$$file" "$$words" "$$file"; \
		gap=,; done >$@ && printf '\n]\n' >>$@

mutants: all
	@tests/mutants/run

# A fuzzer's coverage has to be compiled into the code it looks at: a build of its own.
fuzz:
	$(Q)$(MAKE) --no-print-directory O=$(O)-fuzz CC=$(CLANG) SAN=1 EXTRA_CFLAGS=-fsanitize=fuzzer-no-link fuzz-run

fuzz-run: fuzzers
	$(Q)FUZZ_SECONDS=$(FUZZ_SECONDS) prove -v -e tests/fuzz/run $(FUZZERS)

fuzzers: $(FUZZERS)

$(O)/fuzz/%: tests/fuzz/%.c $(O)/libiosonar.a
	$(call say,FUZZ,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -Itests -fsanitize=fuzzer -o $@ $< $(O)/libiosonar.a $(LIBS)

# Lines a second, which others on the machine disturb; instructions a line, which they do not.
bench-unit: all $(BENCHES)
	$(Q)$(O)/bench/table
	$(Q)$(O)/bench/replay
	$(Q)command -v valgrind >/dev/null || { echo "no valgrind: instructions are not counted"; exit; }; \
	count() { valgrind --tool=callgrind --callgrind-out-file=/dev/null $(O)/bench/table "$$@" 2>&1 >/dev/null | sed -n 's/.*Collected : //p'; }; \
	for format in text json csv; do \
		echo "$$format $$((($$(count $$format 30000) - $$(count $$format 10000)) / 20000)) instructions a line"; done

# Ours and other tools' BPF programs on the same load: docs/benchmarks.md. As root.
bench: all static helpers $(O)/bench/replay $(O)/load/large.t
	$(Q)O=$(O) tests/bench/run

# COMMANDS commands with latency and trace beside, then KILLS random kills, then SERVE_SECONDS of serve while disks come and go, in
# a guest of 6.12.
COMMANDS ?= 1000000
KILLS ?= 100
SERVE_SECONDS ?= 600
soak: all static helpers
	$(Q)mkdir -p $(O)/soak && echo "commands=$(COMMANDS) kills=$(KILLS) seconds=$(SERVE_SECONDS)" >$(O)/soak/numbers
	$(Q)O=$(O) IOSONAR_VM_FILES=$(O)/soak tests/vm/run 6.12 soak soak_serve

# Memory of serve over IOS reads and REQUESTS requests, a sixth of them scrapes, on this machine. As root.
IOS ?= 10000000
REQUESTS ?= 60000
soak-serve: all
	$(Q)SERVE_IOS=$(IOS) SERVE_REQUESTS=$(REQUESTS) prove -v tests/live/serve.t

# record --ring in a guest of 6.12 that is killed at LOSSES random moments.
LOSSES ?= 50
power: all static helpers
	$(Q)O=$(O) tests/vm/power 6.12 $(LOSSES)

$(O)/bench/%: tests/bench/%.c $(O)/libiosonar.a
	$(call say,BENCH,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -o $@ $< $(O)/libiosonar.a $(LIBS)

# What install puts and uninstall removes. Completion is made from the option tables, by the program itself.
BIN = $(DESTDIR)$(PREFIX)/bin
SHARE = $(DESTDIR)$(PREFIX)/share
# Other names of the program, under which it takes other programs' options.
LINKS ?= nvme_trace nvme_latency
MANUALS := $(wildcard man/*.[78])
# Each below the folder of its section.
manual_place = $(SHARE)/man/man$(subst .,,$(suffix $1))/$(notdir $1).gz
LICENSES := LICENSE $(wildcard LICENSES/*)
# Where zsh looks below /usr/local, and most systems' zsh below /usr; Debian's there wants vendor-completions.
ZSH_FUNCTIONS ?= site-functions
BASH_COMPLETION = $(SHARE)/bash-completion/completions/iosonar
ZSH_COMPLETION = $(SHARE)/zsh/$(ZSH_FUNCTIONS)/_iosonar
FISH_COMPLETION = $(SHARE)/fish/vendor_completions.d/iosonar.fish
SHARED = $(BASH_COMPLETION) $(ZSH_COMPLETION) $(FISH_COMPLETION) $(foreach m,$(MANUALS),$(call manual_place,$m)) \
	$(addprefix $(SHARE)/doc/iosonar/,$(notdir $(LICENSES)))

install: all
	umask 022 && mkdir -p $(BIN) $(sort $(dir $(SHARED)))
	install -m 755 $(O)/iosonar $(BIN)/iosonar
	for l in $(LINKS); do ln -sf iosonar $(BIN)/$$l || exit; done
	for f in $(MANUALS); do gzip -9nc $$f >$(SHARE)/man/man$${f##*.}/$${f##*/}.gz || exit; done
	for f in $(LICENSES); do cp $$f $(SHARE)/doc/iosonar/ || exit; done
	$(O)/iosonar --completion bash >$(BASH_COMPLETION)
	$(O)/iosonar --completion zsh >$(ZSH_COMPLETION)
	$(O)/iosonar --completion fish >$(FISH_COMPLETION)
	chmod 644 $(SHARED)

# Folders that others use too stay.
uninstall:
	rm -f $(BIN)/iosonar $(LINKS:%=$(BIN)/%) $(SHARED)
	! [ -d $(SHARE)/doc/iosonar ] || rmdir --ignore-fail-on-non-empty $(SHARE)/doc/iosonar

# The package is built from a copy, by a make that knows nothing of this one.
DEB_TREE = $(O)/deb/iosonar-$(VERSION)
deb:
	$(Q)rm -rf $(O)/deb && mkdir -p $(DEB_TREE)
	$(Q)tar c --exclude=./.git --exclude='./build' --exclude='./build-*' --exclude='./$(O)' . | tar x -C $(DEB_TREE)
	$(Q)[ '$(COMMIT)' = unknown ] || echo '$(COMMIT)' >$(DEB_TREE)/COMMIT
	$(Q)cd $(DEB_TREE) && env -u MAKEFLAGS -u MAKELEVEL -u MAKEOVERRIDES -u O dpkg-buildpackage --no-sign
	$(Q)rm -rf $(DEB_TREE)
	$(Q)ls $(O)/deb/*.deb

clean:
	rm -rf $(O)

-include $(shell find $(O) -path $(O)/deb -prune -o -name '*.d' -type f -print 2>/dev/null)
