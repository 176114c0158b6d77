// Memory, disk and network: what a build runs out of, whatever its language.
import { group, type Rule } from '../rule.ts'

const memoryCure = 'give the build more memory (spec.build.resources.memory), or let it need less'

export const limitRules: readonly Rule[] = [
  {
    pattern: /FATAL ERROR: .*JavaScript heap out of memory/m,
    say: () =>
      `Node.js ran out of memory: ${memoryCure}; NODE_OPTIONS=--max-old-space-size=<MiB> in spec.build.env sets the limit of Node.js itself`,
  },
  { pattern: /^MemoryError\b/m, say: () => `Python ran out of memory: ${memoryCure}` },
  {
    pattern: /(.+) failed with exit code 137$|(.+) was ended by SIGKILL$|^(.*)exit (?:code|status):? 137\b/m,
    say: () => `the build was killed, because it used more memory than it may (exit code 137): ${memoryCure}`,
  },
  {
    pattern: /\bENOSPC\b|No space left on device|no space left on device/m,
    say: () =>
      'the disk space of the build is used up: give it more (spec.build.resources.ephemeralStorage), or let it write less',
  },
  {
    pattern: /\b(?:ENOTFOUND|EAI_AGAIN)\b(?: ([\w.-]+))?/m,
    say: (match, { text }) => {
      const host = /getaddrinfo (?:ENOTFOUND|EAI_AGAIN) ([\w.-]+)/.exec(text)?.[1] ?? group(match, 1)
      return `the host ${host === '' ? 'of the registry of packages' : host} is not known: correct the address (.npmrc or the lock file), or try again when it is reachable`
    },
  },
  {
    pattern: /connect (ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT) ([\w.:-]+)/m,
    say: match =>
      `no connection to ${group(match, 2)} (${group(match, 1)}): correct the address, or try again; builds reach only public addresses by HTTP and HTTPS`,
  },
  {
    pattern:
      /\b(?:ETIMEDOUT|ERR_SOCKET_TIMEOUT|ESOCKETTIMEDOUT|EIDLETIMEOUT|FETCH_TIMEOUT|Socket timeout|network timeout at)\b|ReadTimeoutError|Read timed out/m,
    say: (_match, { text }) => {
      const host = /https?:\/\/([\w.:-]+)/.exec(text)?.[1]
      return `${host ?? 'a server'} did not answer in time: push again or try later; when it stays so, the server or the way to it is broken`
    },
  },
  {
    pattern: /NewConnectionError|Temporary failure in name resolution|Name or service not known/m,
    say: () => 'the registry of packages cannot be reached: correct its address (PIP_INDEX_URL), or try again later',
  },
]
