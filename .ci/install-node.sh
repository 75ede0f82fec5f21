#!/usr/bin/env bash
# The Node.js that .nvmrc names, beside the machine's own: a part of the tests runs under it (`npm run test:newer`). It comes from the npm registry, as
# the packages do. Prints the folder of its programs. Does nothing more when it is there already.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(cat .nvmrc)
folder=/var/cache/email-worker-test-node/$version
name=node-$(node -p 'process.platform + "-" + process.arch')
if [ ! -x "$folder/node_modules/$name/bin/node" ]; then
  sudo=''
  [ "$(id -u)" -eq 0 ] || sudo=sudo
  $sudo install -d -o "$(id -u)" "$folder"
  # Not within the checkout, whose dependencies are another matter.
  (cd "$folder" && npm install --prefix "$folder" --no-save --no-audit --no-fund "$name@$version") >&2
fi
echo "$folder/node_modules/$name/bin"
