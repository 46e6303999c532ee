# The short names for what is done often; each target is a line or two that can be typed by hand. What only people who change
# the code ask for are presets of CMake and ctest, and targets of CMake: CONTRIBUTING.md.
JOBS ?= 2
PREFIX ?= /usr/local
BUILD_TREE ?= build

sources = scripts/lint files
existing = $(sources) | while read -r file; do [ ! -e "$$file" ] || echo "$$file"; done

.PHONY: build deps demo developer test test-builds dist wheel test-packages format check-format site install uninstall clean

# Ninja where it is, in a tree that is new.
generator = $$([ -e $(1)/CMakeCache.txt ] || ! command -v ninja > /dev/null || echo -G Ninja)
# Each time: packages may have come since the last one, or it failed.
plain = scripts/owned cmake --preset plain $(call generator,build)

build: ## build/bin/forebay and the libraries, of what is there; docs/install.md
	@scripts/tools
	$(plain)
	scripts/owned cmake --build build -j $(JOBS)

deps: ## the Debian packages for make build, with root or sudo
	scripts/install-dependencies command parts

demo: ## OpenFOAM direct, with forebay and without output: demo-output/index.html; SHARED=DIR: on that file system; docs/install.md
	scripts/install-dependencies command demo || echo "make demo: goes on with what is here"
	@scripts/tools /usr/bin/python3
	$(plain)
	scripts/owned cmake --build build -j $(JOBS) --target forebay forebay_redirect
	scripts/owned demo/run --output demo-output $(if $(SHARED),--shared "$(SHARED)")

developer: ## all parts with tests and benchmarks; a warning is an error
	scripts/install-dependencies command parts developer
	cmake --preset release $(call generator,build) -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
	cmake --build build -j $(JOBS)

test: ## everything a change must pass
	scripts/install-dependencies command parts demo developer test cluster builds
	$(MAKE) --no-print-directory check-format developer
	scripts/lint python
	scripts/lint clock
	scripts/lint tidy src/base
	ctest --test-dir build --output-on-failure --timeout 900 -j $$((2 * $(JOBS))) --output-junit tests.xml
	cmake --preset sanitizers $(call generator,build-sanitizers)
	cmake --build --preset sanitizers -j $(JOBS)
	ctest --preset sanitizers -j $(JOBS) --output-junit tests.xml
	cmake --preset thread-sanitizer $(call generator,build-thread-sanitizer)
	cmake --build --preset thread-sanitizer -j $(JOBS)
	ctest --preset thread-sanitizer -j $(JOBS) --output-junit tests.xml
	@grep '^not cached: ' build/Testing/Temporary/LastTest.log || echo "not cached: nothing, of the Debians of builds/bare"
	@scripts/skipped build/tests.xml build-sanitizers/tests.xml build-thread-sanitizer/tests.xml

test-builds: ## the ways to build that docs/install.md promises, each in a Debian of its own; needs root; an hour at most
	scripts/install-dependencies command developer builds
	cmake --preset release $(call generator,build)
	ctest --test-dir build --build-config Builds --output-on-failure -R '^builds/'

dist: ## forebay-VERSION-PROCESSOR.tar.gz, for any Linux: programs without libraries; PROCESSOR=aarch64: for that one
	scripts/install-dependencies command $(if $(filter-out $(shell uname -m),$(PROCESSOR)),cross,parts)
	packaging/tarball -j $(JOBS) $(PROCESSOR)

wheel: dist ## the same with libforebay and the Python package, for pip
	cmake --build build-dist -j $(JOBS) --target forebay_library
	packaging/wheel build-dist

test-packages: ## each way to install that a package is for, from a Debian that has nothing; needs root
	scripts/install-dependencies command developer builds cross
	cmake --preset release $(call generator,build)
	ctest --test-dir build --build-config Packages --output-on-failure -R '^packages/'

format: ## rewrites sources in the project's style
	@$(existing) | xargs clang-format -i
	scripts/lint format

check-format:
	@$(existing) | scripts/lint style

site: ## build/site/html/index.html: all pages, commands and headers, with search, by MkDocs Material of PyPI
	scripts/site_pages.py build build/site

install: build ## below PREFIX, or below DESTDIR for a package
	scripts/owned cmake --install "$(BUILD_TREE)" --prefix "$(PREFIX)"
	@[ -n "$(DESTDIR)" ] || [ "$$(command -v forebay)" -ef "$(PREFIX)/bin/forebay" ] || \
	  echo "A shell finds it after: export PATH=\"$$(realpath "$(PREFIX)")/bin:\$$PATH\""

uninstall: ## removes what the last make install wrote
	scripts/owned cmake --build "$(BUILD_TREE)" --target uninstall

clean:
	rm -rf build build-debug build-sanitizers build-thread-sanitizer build-fuzz build-dist build-dist-aarch64 build-sysroot demo-output .cache
