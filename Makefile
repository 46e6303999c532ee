# The short names for what is done often; each target is a line or two that can be typed by hand.
JOBS ?= 2
PREFIX ?= /usr/local
BUILD_TREE ?= build

sources = scripts/lint files
existing = $(sources) | while read -r file; do [ ! -e "$$file" ] || echo "$$file"; done

.PHONY: build deps demo developer manual rooms site test test-builds kills histories drive stress nfs states unit sanitized fuzz bench predicted pictures format check-format lint tidy install test-packages dist wheel uninstall clean

threaded = tree publish drain launch segment trajectory multiply
space = $() $()
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
	scripts/lint fortran
	scripts/lint clock
	scripts/lint tidy src/base
	ctest --test-dir build --output-on-failure --timeout 900 -j $(JOBS) --output-junit tests.xml
	$(MAKE) --no-print-directory sanitized
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

kills: developer ## 300 kills, each followed by a restart; half an hour on a machine that does nothing else
	scripts/install-dependencies demo test
	FOREBAY=build/bin/forebay tests/run/restart/campaign.py

histories: developer ## 100 kills while logs and histories grow on the case; ten minutes
	scripts/install-dependencies demo test
	ctest --test-dir build --build-config Kills --output-on-failure --verbose -R '^watch/all_kills'

drive: developer ## 2,000 programs made from seeds, killed and starved, judged by what they recorded; half an hour
	scripts/install-dependencies test
	FOREBAY=build/bin/forebay PLAYER=build/bin/player FAULT_LIBRARY=build/lib/libforebay_fault.so tests/run/drive/drive.py

stress: developer ## an hour of programs made from seeds, run directly and under forebay and compared; one that differs is made small
	scripts/install-dependencies test
	FOREBAY=build/bin/forebay PLAYER=build/bin/player tests/run/stress/stress.py --from $(or $(FROM),101) --minutes $(or $(MINUTES),60)

nfs: developer ## the file side on a real NFS, in a virtual machine; an hour, needs root
	scripts/install-dependencies demo test nfs
	ctest --test-dir build --build-config Nfs --output-on-failure -R '^nfs/'

states: developer ## a million random operations on kept trajectories, in many processes; some minutes
	FOREBAY_TEST_OPERATIONS=1000000 build/bin/trajectory_test --gtest_filter='Operations.*'
	FOREBAY_TEST_ROUNDS=5000 build/bin/trajectory_test --gtest_filter='*TwoOpenings.*'

unit: developer ## the unit tests alone
	ctest --test-dir build --output-on-failure -j $(JOBS) -L unit

sanitized: ## the unit tests under the address and undefined behaviour sanitizers, and rooms with threads under the thread sanitizer
	cmake --preset sanitizers $(call generator,build-sanitizers)
	cmake --build --preset sanitizers -j $(JOBS) --target unit_tests
	ctest --test-dir build-sanitizers --output-on-failure --timeout 300 -j $(JOBS) -L unit --output-junit tests.xml
	cmake --preset thread-sanitizer $(call generator,build-thread-sanitizer)
	cmake --build --preset thread-sanitizer -j $(JOBS) --target $(threaded:=_test)
	ctest --test-dir build-thread-sanitizer --output-on-failure --timeout 300 -j $(JOBS) -R '^($(subst $(space),|,$(threaded)))/' --output-junit tests.xml

fuzz: ## every fuzz target for a minute
	scripts/install-dependencies command parts developer
	cmake --preset fuzz $(call generator,build-fuzz)
	cmake --build --preset fuzz -j $(JOBS) --target store_fuzz codec_fuzz device_fuzz mesh_fuzz arrays_fuzz
	build-fuzz/bin/store_fuzz -max_total_time=60 -timeout=10 -len_control=0 -max_len=1024
	build-fuzz/bin/codec_fuzz -max_total_time=60 -timeout=10 -len_control=0 -max_len=1024
	build-fuzz/bin/device_fuzz -max_total_time=60 -timeout=10 -len_control=0 -max_len=1024
	build-fuzz/bin/mesh_fuzz -max_total_time=60 -timeout=10 -len_control=0 -max_len=1024
	build-fuzz/bin/arrays_fuzz -max_total_time=60 -timeout=10 -len_control=0 -max_len=1024

bench: developer ## the figures the project promises; an hour and a half on a quiet machine
	scripts/install-dependencies demo test
	build/bin/forebay bench openfoam
	build/bin/forebay bench trajectory
	build/bin/forebay bench arrays

predicted: developer ## two runs against the slow shared directory end when `forebay predict` says; three minutes, needs root
	scripts/install-dependencies demo test
	ctest --test-dir build --build-config Slow --output-on-failure -R '^predict/reality'

pictures: developer ## those of docs/meshes/mesh.md, with VTK of PyPI
	scripts/install-dependencies test
	tests/with_packages build/pictures /usr/bin/python3 "vtk==9.7.1" docs/meshes/pictures/draw.py build/bin/forebay docs/meshes/pictures

format: ## rewrites sources in the project's style
	@$(existing) | xargs clang-format -i
	scripts/lint format

check-format:
	@$(existing) | scripts/lint style

lint: check-format developer ## style and clang-tidy over every source file
	scripts/lint python
	scripts/lint fortran
	scripts/lint clock
	scripts/lint tidy src

manual: ## docs/man and docs/completion, as the built command prints them
	build/bin/forebay man --into docs/man
	build/bin/forebay completion bash > docs/completion/forebay.bash
	build/bin/forebay completion zsh > docs/completion/_forebay
	build/bin/forebay completion fish > docs/completion/forebay.fish

rooms: ## docs/rooms.svg: which room of src/ uses which, as CMake links them
	scripts/install-dependencies command parts developer
	cmake --preset release $(call generator,build)
	scripts/rooms.py build/rooms.txt docs/rooms.svg

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
