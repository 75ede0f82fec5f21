#!/usr/bin/env bash
# Postfix, Dovecot and PostgreSQL for the end-to-end tests (Debian, Ubuntu). Only the programs are used: the tests start their own
# instances in a temporary folder. Does nothing when they are there already.
set -euo pipefail

missing=()
for package in postfix dovecot-imapd dovecot-lmtpd postgresql; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi

export DEBIAN_FRONTEND=noninteractive
sudo=''
[ "$(id -u)" -eq 0 ] || sudo='sudo --preserve-env=DEBIAN_FRONTEND'

# The packages would start their services at the standard ports; nothing but the programs is wanted.
created=''
if [ ! -e /usr/sbin/policy-rc.d ]; then
  printf '#!/bin/sh\nexit 101\n' | $sudo tee /usr/sbin/policy-rc.d >/dev/null
  $sudo chmod 755 /usr/sbin/policy-rc.d
  created=yes
fi
cleanup() {
  [ -z "$created" ] || $sudo rm -f /usr/sbin/policy-rc.d
}
trap cleanup EXIT

$sudo apt-get update -q
$sudo apt-get install -y -q --no-install-recommends "${missing[@]}"
