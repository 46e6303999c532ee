# Debians of their own for the tests of this folder, which source this file. A root is a stack of directories: the bare
# Debian of debootstrap, and above it what an administrator installed, a layer each. They stay in
# ${XDG_CACHE_HOME:-~/.cache}/forebay/roots; remove a directory there to have it made anew.
#   skip REASON             ends the test: this machine does not allow it
#   need_roots              skips without root, namespaces or debootstrap
#   bare SUITE              makes the layer SUITE, unless it is there
#   layer NAME BELOW SCRIPT makes a layer by root's SCRIPT above another one, unless it is there as it is asked for now
#   inside LAYER USER SCRIPT  runs bash in the root whose last layer that is, in namespaces that end with it. What it writes
#                           is kept until the test ends, in its home beyond that LAYER
#   with_command, with_group NAME  make the layers bookworm-command and bookworm-NAME, by scripts/install-dependencies
#   listing NAME [PAGE]     prints the commands that a page of docs shows under that name; without PAGE install.md
#   copy_sources            into the home of the user, also what is not committed
# `user` there is nobody special: uid 12345, without rights. `sudoer` may use sudo without a password, where it is installed.
sources=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/forebay
roots=$cache/roots
test=${0##*/}
fail() { echo "$test: $*" >&2; exit 1; }
skip() { echo "skipped: $*"; exit 77; }

need_roots() {
  [ "$(id -u)" = 0 ] || skip "only root can make and enter the directory of another Debian"
  local program
  for program in debootstrap unshare pivot_root setpriv flock; do
    command -v "$program" > /dev/null || skip "no $program: scripts/install-dependencies builds"
  done
  mkdir -p "$roots" "$cache/packages/partial" "$cache/ccache"
  chmod 1777 "$cache/ccache"
  local left
  for left in "$roots"/test.*; do
    [ ! -e "$left" ] || kill -0 "${left##*.}" 2> /dev/null || rm -rf "$left"
  done
  own=$roots/test.$$
  trap 'rm -rf "$own"' EXIT
  mkdir -p "$own"/{bare,home/user,home/sudoer,files,work,at}
  chown 12345:12345 "$own/home/user"
  chown 12346:12346 "$own/home/sudoer"
  unshare --mount --pid --fork mount -t overlay -o "lowerdir=$own/bare,upperdir=$own/files,workdir=$own/work" overlay "$own/at" 2> /dev/null ||
    skip "no namespaces here, or no overlay of $roots"
}

bare() {
  exec 8> "$roots/lock"
  flock 8
  local suite=$1 mirror
  if ! [ -e "$roots/$suite/files" ]; then
    echo "not cached: Debian $suite"
    mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' | head -n 1)
    [ -n "$mirror" ] || fail "apt knows no mirror of Debian: apt-get update"
    rm -rf "$roots/$suite"
    mkdir -p "$roots/$suite/new" "$cache/debootstrap"
    local recipe=/usr/share/debootstrap/scripts/$suite
    [ -e "$recipe" ] || recipe=${recipe%/*}/sid  # of a suite that is newer than this debootstrap
    debootstrap --variant=minbase --cache-dir="$cache/debootstrap" "$suite" "$roots/$suite/new" "$mirror" "$recipe" > "$roots/$suite.log" 2>&1 ||
      { tail -n 5 "$roots/$suite.log" >&2; fail "debootstrap failed"; }
    chroot "$roots/$suite/new" useradd --create-home --shell /bin/bash --uid 12345 user
    chroot "$roots/$suite/new" useradd --create-home --shell /bin/bash --uid 12346 sudoer
    # No package waits for the disk: what a crash of this machine leaves half-done is made anew.
    echo force-unsafe-io > "$roots/$suite/new/etc/dpkg/dpkg.cfg.d/forebay"
    mkdir -p "$roots/$suite/new/etc/sudoers.d"
    echo 'sudoer ALL=(ALL) NOPASSWD: ALL' > "$roots/$suite/new/etc/sudoers.d/sudoer"
    mv "$roots/$suite/new" "$roots/$suite/files"
  fi
  exec 8>&-
}

layer() {
  local name=$1 below=$2 script=$3 asked
  asked="$below: $script, $(cat "$roots/$below/asked" 2> /dev/null) $(cksum < "$sources/scripts/install-dependencies")"
  exec 8> "$roots/lock"
  flock 8
  if [ "$(cat "$roots/$name/asked" 2> /dev/null)" != "$asked" ]; then
    echo "not cached: $name"
    rm -rf "$roots/$name"
    mkdir -p "$roots/$name"/{files/root,work}
    echo "$below" > "$roots/$name/below"
    cp "$sources/scripts/install-dependencies" "$roots/$name/files/root/"
    writes=$roots/$name inside "$below" root "export DEBIAN_FRONTEND=noninteractive; $script" > "$roots/$name.log" 2>&1 8>&- ||
      { tail -n 15 "$roots/$name.log" >&2; fail "cannot make the layer $name; see $roots/$name.log"; }
    echo "$asked" > "$roots/$name/asked"
  fi
  exec 8>&-
}

# The root is changed by pivot_root, since processes in a chroot are refused namespaces of their own. What this machine's apt
# and pip are told of the network, and whom they trust, such as a proxy, holds inside, too.
inside() {
  local stack=$roots/$1/files below=$1
  while [ -e "$roots/$below/below" ]; do
    below=$(cat "$roots/$below/below")
    stack+=:$roots/$below/files
  done
  unshare --mount --pid --fork --kill-child bash -euc '
    stack=$1 writes=$2 own=$3 cache=$4 user=$5 script=$6
    mount --make-rprivate /
    mount -t overlay -o "lowerdir=$stack,upperdir=$writes/files,workdir=$writes/work" overlay "$own/at"
    cd "$own/at"
    mkdir -p old ccache
    apt-config dump | grep -E "^Acquire::(Check-|http)" > etc/apt/apt.conf.d/90forebay || true
    cp -L /etc/resolv.conf /etc/hosts etc/
    install -D -m 644 /etc/ssl/certs/ca-certificates.crt etc/ssl/certs/ca-certificates.crt.of-the-host
    mount -t proc proc proc
    # As long as this root is there, the kernel gives programs for aarch64 to qemu.
    if [ -e lib/ld-linux-aarch64.so.1 ]; then
      mount -t binfmt_misc binfmt_misc proc/sys/fs/binfmt_misc
      [ -e proc/sys/fs/binfmt_misc/qemu-aarch64 ] || cat /usr/lib/binfmt.d/qemu-aarch64.conf > proc/sys/fs/binfmt_misc/register
    fi
    mount --rbind /sys sys
    mount --rbind /dev dev
    mount --bind "$own/home" home
    mount --bind "$cache/packages" var/cache/apt/archives
    mount --bind "$cache/ccache" ccache
    pivot_root . old
    umount -l old
    home=$(getent passwd "$user" | cut -d: -f6)
    cd "$home"
    exec env -i HOME="$home" USER="$user" LANG=C.UTF-8 CCACHE_DIR=/ccache CCACHE_UMASK=000 \
      PIP_CERT=/etc/ssl/certs/ca-certificates.crt.of-the-host PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
      setpriv --reuid "$user" --regid "$user" --init-groups bash -euo pipefail -c "$script"' \
    bash "$stack" "${writes:-$own}" "$own" "$cache" "$2" "$3" < /dev/null
}

copy_sources() {
  local tree=$own/home/$1/forebay
  mkdir "$tree"
  (cd "$sources" && git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done) |
    tar -C "$sources" --null --files-from - -c | tar -C "$tree" -x
  chown -R --reference="$own/home/$1" "$tree"
}

# Debian 12 with the packages that the command needs, and with those of a group beside them.
install="apt-get -q update; apt-get -qy -o Dpkg::Use-Pty=0 install --no-install-recommends"
with_command() {
  bare bookworm
  layer bookworm-command bookworm "~/install-dependencies --yes command; $install ccache"  # ccache is the test's own
}
with_group() { layer "bookworm-$1" bookworm-command "~/install-dependencies --yes $1"; }

# The commands that a page shows under a name.
listing() { sed -n "/<!-- listing: $1 -->/,/^\`\`\`\$/p" "$sources/docs/${2:-install.md}" | sed '1,2d;$d'; }
