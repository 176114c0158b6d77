#!/bin/sh
# Asks GitHub's REST API with a token under a RepositoryGrant, from a pod on Sekisho. The token goes to the API of the grant's
# host and nowhere else; it is not printed, and is no argument, file or variable of the environment. Needs a POSIX shell, sed and
# curl 7.76 or later.
#   sh /etc/sekisho/github-api <name of the RepositoryGrant> [method] <path> [file with the body, or -]
#   sh /etc/sekisho/github-api read-shop /repos/acme/shop/commits?per_page=1
set -euf
desk='@TOKEN_DESK@'
identity=${SEKISHO_IDENTITY:-/var/run/sekisho/token}
authority=${SEKISHO_AUTHORITY:-/var/run/sekisho-ca/ca.crt}

fail() {
  printf 'sekisho: %s\n' "$1" >&2
  exit 1
}

usage="usage: sh $0 <name of the RepositoryGrant> [method] <path> [file with the body, or -]"
[ $# -ge 2 ] && [ $# -le 4 ] || fail "$usage"
grant=$1
shift
method=GET
case $1 in
  GET | HEAD | POST | PUT | PATCH | DELETE)
    method=$1
    shift
    ;;
esac
[ $# -ge 1 ] && [ $# -le 2 ] || fail "$usage"
path=$1 body=${2:-}
case $grant in '' | *[!a-z0-9.-]*) fail 'the name of the RepositoryGrant is not valid' ;; esac
case $path in
  *[!A-Za-z0-9._~:/@%+,=\&?-]*) fail 'the path has characters that must be written as %xx' ;;
  /*) ;;
  *) fail 'the path must begin with /, such as /repos/acme/shop' ;;
esac

command -v curl >/dev/null || fail 'curl is needed in the image of the container'
bearer=''
[ -r "$identity" ] || fail "$identity cannot be read: mount a projected ServiceAccount token with the audience sekisho there"
IFS= read -r bearer <"$identity" || [ -n "$bearer" ] || fail "$identity is empty"
case $bearer in '' | *[!A-Za-z0-9._~+/=-]*) fail "$identity is not a ServiceAccount token" ;; esac
[ -r "$authority" ] || fail "$authority cannot be read: mount the ConfigMap sekisho-ca there"

answer=$(
  printf '%s\n' \
    "url = \"https://$desk/v1/token\"" \
    "header = \"Authorization: Bearer $bearer\"" \
    'header = "Content-Type: application/json"' \
    "data-raw = \"{\\\"grant\\\":\\\"$grant\\\"}\"" \
    'write-out = "\n%{http_code}"' |
    curl --disable --config - --silent --show-error --proto =https --noproxy '*' --cacert "$authority" \
      --connect-timeout 10 --max-time 60 --max-filesize 65536
) || fail 'the token desk cannot be reached'
status=${answer##*
}
case $status in
  200) ;;
  401) fail 'the token desk does not accept the identity of this pod: it must be a projected token with the audience sekisho' ;;
  403) fail "no token: kubectl describe repositorygrant $grant says whether it is ready, names this ServiceAccount, and has the delivery TokenEndpoint" ;;
  429) fail 'too many requests for tokens: wait and try again' ;;
  *) fail "the token desk answered with the status $status" ;;
esac
token=$(printf '%s\n' "$answer" | sed -n 's/.*"token":"\([A-Za-z0-9._-]*\)".*/\1/p')
api=$(printf '%s\n' "$answer" | sed -n 's/.*"api":"\(https\{0,1\}:\/\/[A-Za-z0-9.:\/-]*\)".*/\1/p')
[ -n "$token" ] && [ -n "$api" ] || fail 'the answer of the token desk cannot be read'

# curl reads its configuration, which has the token, from descriptor 3, and the body from standard input.
set -- --request "$method"
[ "$method" != HEAD ] || set -- --head
[ -z "$body" ] || set -- "$@" --header 'Content-Type: application/json' --data-binary "@$body"
exec 4<&0
printf '%s\n' \
  "url = \"$api$path\"" \
  "header = \"Authorization: Bearer $token\"" \
  'header = "Accept: application/vnd.github+json"' \
  'header = "X-GitHub-Api-Version: 2022-11-28"' |
  curl --disable --config /dev/fd/3 --silent --show-error --fail-with-body --connect-timeout 10 --max-time 300 "$@" 3<&0 <&4
