#!/bin/sh
# A credential helper of git for pods on Sekisho. For the git proxy it answers with the name of the grant and the pod's own
# identity; for GitHub with a token from the token desk, which gives one for the host and the repositories of the grant only.
# Nothing secret is an argument, a file or in the environment. Needs a POSIX shell, and curl for GitHub.
#   git config --global credential.helper '!sh /etc/sekisho/git-credential <name of the RepositoryGrant>'
#   git config --global credential.useHttpPath true
set -euf
desk='@TOKEN_DESK@' proxy='@GIT_PROXY@'
identity=${SEKISHO_IDENTITY:-/var/run/sekisho/token}
authority=${SEKISHO_AUTHORITY:-/var/run/sekisho-ca/ca.crt}

fail() {
  printf 'sekisho: %s\n' "$1" >&2
  exit 1
}

[ $# -eq 2 ] || fail "usage: credential.helper = '!sh $0 <name of the RepositoryGrant>'"
grant=$1
[ "$2" = get ] || exit 0
case $grant in '' | *[!a-z0-9.-]*) fail 'the name of the RepositoryGrant is not valid' ;; esac

protocol='' host='' path='' lines=0
while IFS= read -r line && [ -n "$line" ]; do
  lines=$((lines + 1))
  [ "$lines" -le 50 ] || fail 'git sent too many lines'
  case $line in
    protocol=*) protocol=${line#protocol=} ;;
    host=*) host=${line#host=} ;;
    path=*) path=${line#path=} ;;
  esac
done
# Nothing that could end a text in the configuration of curl.
case $protocol$host$path in *[!A-Za-z0-9._~:/@%+-]*) fail 'the URL has characters that are not passed on' ;; esac

bearer=''
[ -r "$identity" ] || fail "$identity cannot be read: mount a projected ServiceAccount token with the audience sekisho there"
IFS= read -r bearer <"$identity" || [ -n "$bearer" ] || fail "$identity is empty"
case $bearer in '' | *[!A-Za-z0-9._~+/=-]*) fail "$identity is not a ServiceAccount token" ;; esac

if [ "$host" = "$proxy" ]; then
  [ "$protocol" = https ] || fail "the git proxy is reached by https only"
  printf 'username=%s\npassword=%s\n' "$grant" "$bearer"
  exit 0
fi

command -v curl >/dev/null || fail 'curl is needed in the image of the container'
[ -r "$authority" ] || fail "$authority cannot be read: mount the ConfigMap sekisho-ca there"
answer=$(
  printf '%s\n' \
    "url = \"https://$desk/v1/git-credential?grant=$grant\"" \
    "header = \"Authorization: Bearer $bearer\"" \
    'header = "Content-Type: text/plain"' \
    "data-raw = \"protocol=$protocol\\nhost=$host\\npath=$path\\n\"" \
    'write-out = "\n%{http_code}"' |
    curl --disable --config - --silent --show-error --proto =https --noproxy '*' --cacert "$authority" \
      --connect-timeout 10 --max-time 60 --max-filesize 16384
) || fail 'the token desk cannot be reached'
status=${answer##*
}
case $status in
  200) ;;
  401) fail 'the token desk does not accept the identity of this pod: it must be a projected token with the audience sekisho' ;;
  403) fail "no credential for $protocol://$host/$path: kubectl describe repositorygrant $grant says whether it is ready, names this ServiceAccount and this repository, and has the delivery TokenEndpoint" ;;
  429) fail 'too many requests for tokens: wait and try again' ;;
  *) fail "the token desk answered with the status $status" ;;
esac
printf '%s\n' "$answer" | while IFS= read -r line; do
  case $line in username=* | password=* | password_expiry_utc=*) printf '%s\n' "$line" ;; esac
done
