#!/usr/bin/env bash
# Real mail for the tests (test/helpers/mail-archive.ts): what Debian's source packages hold of public mailing lists. It is other
# people's, so it is fetched, and no part of this repository. Which version there is, where, and its checksum come from
# apt's signed index of sources; the machine's own apt stays as it is. Does nothing when the mail is there already.
set -euo pipefail

mail=/var/cache/email-worker-test-mail

# Source package and the files of it that are mail: two mailing lists with hard cases, and what Mail::Thread (JWZ's
# algorithm) is tested with.
packages=(
  'notmuch */test/corpora/*'
  'libmail-thread-perl */t/testbox*'
)

missing=()
for package in "${packages[@]}"; do
  [ -d "$mail/${package%% *}" ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi

sudo=''
[ "$(id -u)" -eq 0 ] || sudo=sudo
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{sources,lists/partial,cache/archives/partial,downloads}

# The machine's sources, of source packages.
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
  [ -f "$file" ] || continue
  name=${file#/etc/apt/}
  sed -E 's/^(Types:[[:space:]]).*/\1deb-src/; s/^deb(-src)?([[:space:]])/deb-src\2/' "$file" >"$work/sources/${name//\//-}"
done
cat >"$work/apt.conf" <<CONF
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$work/sources";
Dir::State::lists "$work/lists";
Dir::Cache "$work/cache";
CONF
# apt downloads as a user of its own.
chmod 755 "$work"
if [ -z "$sudo" ] && id _apt >/dev/null 2>&1; then
  chown _apt "$work/downloads"
fi
export APT_CONFIG=$work/apt.conf

# Another repository of the machine may have no source packages; what counts is whether ours are found below.
apt-get update -q || echo 'fetch-mail: some sources of this machine could not be read'

for package in "${missing[@]}"; do
  name=${package%% *}
  pattern=${package#* }
  (cd "$work/downloads" && apt-get source -q --download-only --tar-only --only-source "$name")
  mkdir "$work/$name"
  # apt reads every kind of compression.
  /usr/lib/apt/apt-helper cat-file "$work/downloads/$name"_*.orig.tar.[gx]z |
    tar -x --wildcards --no-same-owner -C "$work/$name" "$pattern"
  # The folder gets its name when it is complete.
  chmod -R u=rwX,go=rX "$work/$name"
  $sudo mkdir -p "$mail"
  $sudo rm -rf "$mail/.$name"
  $sudo cp -R "$work/$name" "$mail/.$name"
  $sudo mv -T "$mail/.$name" "$mail/$name"
done
