#!/usr/bin/env bash
# Postfix, Dovecot, OpenDKIM, Exim, OpenSMTPD, PostgreSQL, PgBouncer, dnsmasq, promtool (prometheus), nginx, systemd-analyze,
# Chromium, libfaketime, and the shells and small programs that tests run (Debian). Only the programs are used: the tests start their own instances in a temporary folder. Does nothing when they are there already.
set -euo pipefail

# Their packages conflict with Postfix's, so they are unpacked here; test/helpers/other-mail-servers.ts looks for them.
unpacked=/var/cache/email-worker-test-servers

is_installed() {
  dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

missing=()
servers=(postfix dovecot-imapd dovecot-lmtpd opendkim dnsmasq-base postgresql pgbouncer prometheus nginx-light systemd chromium-headless-shell faketime)
programs=(bash fish zsh curl git openssl openssh-client procps python3 swaks libnet-ssleay-perl)
for package in "${servers[@]}" "${programs[@]}"; do
  is_installed "$package" || missing+=("$package")
done
to_unpack=()
[ -x "$unpacked/usr/sbin/exim4" ] || to_unpack+=(exim4-daemon-light)
[ -x "$unpacked/usr/sbin/smtpd" ] || to_unpack+=(opensmtpd)
if [ ${#missing[@]} -eq 0 ] && [ ${#to_unpack[@]} -eq 0 ]; then
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

if [ ${#to_unpack[@]} -gt 0 ]; then
  downloads=$(mktemp -d)
  # apt downloads as a user of its own.
  chmod 755 "$downloads"
  (cd "$downloads" && apt-get download "${to_unpack[@]}")
  $sudo mkdir -p "$unpacked"
  for file in "$downloads"/*.deb; do
    $sudo dpkg-deb -x "$file" "$unpacked"
    # The libraries they need conflict with nothing.
    for library in $(dpkg-deb -f "$file" Depends | grep -o '\blib[a-z0-9.+-]*' | sort -u); do
      is_installed "$library" || missing+=("$library")
    done
  done
  rm -rf "$downloads"
fi

if [ ${#missing[@]} -gt 0 ]; then
  $sudo apt-get install -y -q --no-install-recommends "${missing[@]}"
fi
