// What `sekisho halt` names: words of people become what a Halt names, which are numbers and names that do not pass to another
// thing. A name that nothing here has is an error with the near ones: never a Halt that stands in the way of nothing.
import type { Halt } from '../../../api/github/halt.ts'
import { parseUserSubject, platformNamespace } from '../../../api/names.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import { installations, repositoryGrants, tenants } from '../../kubernetes/kinds.ts'
import { didYouMean } from '../../kubernetes/similar-names.ts'

export type Target = Halt['spec']['target']
export type TargetWord = 'token' | 'grant' | 'repository' | 'person' | 'tenant' | 'installation' | 'everything'

/** What can be named. */
export type Known = {
  /** By name; in the namespace of the platform those of all tenants. */
  readonly grants: readonly { readonly namespace: string; readonly name: string }[]
  readonly repositories: readonly { readonly host: string; readonly id: number; readonly name: string }[]
  readonly people: readonly { readonly host: string; readonly id: number; readonly login?: string | undefined }[]
  readonly tenants: readonly string[]
  readonly installations: readonly {
    readonly host: string
    readonly id: number
    readonly account: { readonly id: number; readonly login: string }
  }[]
}

/** Reads it with the rights of the person: a platform admin sees all tenants, an admin of a tenant the own one. */
export async function readKnown({ client, namespace }: Cluster): Promise<Known> {
  const isPlatform = namespace === platformNamespace
  const where = isPlatform ? {} : { namespace }
  const [grants, bound] = await Promise.all([client.list(repositoryGrants, where), client.list(installations, where)])
  const hosts = new Map(bound.map(({ metadata, spec }) => [`${metadata.namespace}/${metadata.name}`, spec.account.host]))
  const names = isPlatform ? (await client.list(tenants)).map(({ metadata }) => metadata.name) : [namespace]
  return {
    grants: grants.map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name })),
    repositories: grants.flatMap(({ metadata, spec, status }) => {
      const host = hosts.get(`${metadata.namespace}/${spec.installation}`)
      return host === undefined ? [] : (status?.repositories ?? []).map(({ id, name }) => ({ host, id, name }))
    }),
    people: grants.flatMap(({ spec, status }) => {
      const person = parseUserSubject(spec.requestedBy)
      return person === undefined ? [] : [{ host: person.host, id: person.userId, login: status?.requester?.login }]
    }),
    tenants: names,
    installations: bound.map(({ spec }) => ({ host: spec.account.host, id: spec.installationId, account: spec.account })),
  }
}

function unknown(what: string, text: string, names: readonly string[], cure: string): AppError {
  return new AppError('invalid_request', `${what} ${text} is not known here: ${cure}${didYouMean(text, names)}`)
}

/** The one host on which a number is meant. Throws when several are known: numbers are unique per host only. */
function hostOf(hosts: readonly string[], what: string): string {
  const [host, ...others] = new Set(hosts)
  if (host === undefined || others.length > 0)
    throw new AppError(
      'invalid_request',
      `which GitHub ${what} is on is not clear: write it as HOST/NUMBER, such as github.com/42`,
    )
  return host
}

type Numbered = { readonly host: string; readonly id: number }

/** `host/number`, a number, or a name of exactly one of those that are known. */
function numbered<T extends Numbered>(
  what: string,
  text: string,
  { all, named }: { readonly all: readonly T[]; readonly named: (one: T) => string | undefined },
): Numbered & { readonly found: T | undefined } {
  const full = /^([a-z0-9][a-z0-9.:-]*)\/([1-9][0-9]{0,14})$/.exec(text)
  if (full?.[1] !== undefined) {
    const [host, id] = [full[1], Number(full[2])]
    return { host, id, found: all.find(one => one.host === host && one.id === id) }
  }
  const byName = all.filter(one => named(one)?.toLowerCase() === text.toLowerCase())
  const byNumber = /^[1-9][0-9]{0,14}$/.test(text) ? all.filter(({ id }) => id === Number(text)) : []
  const matching = [...new Map([...byName, ...byNumber].map(one => [`${one.host}/${one.id}`, one])).values()]
  const [found, ...others] = matching
  // A name that is also a number of another one would otherwise halt the wrong one.
  if (others.length > 0)
    throw new AppError(
      'invalid_request',
      `${what} ${text} is several: write ${matching.map(({ host, id }) => `${host}/${id}`).join(' or ')}`,
    )
  if (found !== undefined) return { host: found.host, id: found.id, found }
  if (!/^[1-9][0-9]{0,14}$/.test(text))
    throw unknown(
      what,
      text,
      all.flatMap(one => named(one) ?? []),
      'write its number on GitHub, as HOST/NUMBER where it has no grant',
    )
  return {
    host: hostOf(
      all.map(({ host }) => host),
      what,
    ),
    id: Number(text),
    found: undefined,
  }
}

/** Throws `invalid_request` for what is not known, with the near names. Pure. */
export function targetOf(word: TargetWord, text: string, known: Known, namespace: string): Target {
  const readers: Readonly<Record<TargetWord, () => Target>> = {
    everything: () => ({ type: 'Everything' }),
    token: () => ({ type: 'Token', token: tokenOf(text) }),
    grant: () => ({ type: 'Grant', grant: grantOf(text, known, namespace) }),
    repository() {
      const { host, id, found } = numbered('repository', text, { all: known.repositories, named: ({ name }) => name })
      return { type: 'Repository', repository: { host, id, ...(found && { name: found.name }) } }
    },
    person() {
      const subject = parseUserSubject(text)
      const given = subject === undefined ? text : `${subject.host}/${subject.userId}`
      const { host, id, found } = numbered('person', given, { all: known.people, named: ({ login }) => login })
      return { type: 'Person', person: { host, id, ...(found?.login !== undefined && { login: found.login }) } }
    },
    tenant() {
      if (!known.tenants.includes(text)) throw unknown('tenant', text, known.tenants, 'kubectl get tenants lists them')
      return { type: 'Tenant', tenant: { name: text } }
    },
    installation() {
      const { host, id, found } = numbered('installation', text, {
        all: known.installations,
        named: ({ account }) => account.login,
      })
      return { type: 'Installation', installation: { host, id, ...(found && { account: found.account.id }) } }
    },
  }
  return readers[word]()
}

function tokenOf(text: string): NonNullable<Target['token']> {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)) return { id: text }
  if (/^[A-Za-z0-9+/]{43}=$/.test(text)) return { hash: text }
  throw new AppError(
    'invalid_request',
    'write the id of the token (details.token in the audit log) or its SHA-256 in base64 (hashed_token in the audit log of GitHub), or pass the token itself with --token-stdin: never on the command line',
  )
}

/** `namespace/name`, or the name of one in the namespace. One that does not exist may be halted by its full name. */
function grantOf(text: string, { grants }: Known, namespace: string): NonNullable<Target['grant']> {
  const [first = '', second] = text.split('/')
  if (second !== undefined) return { namespace: first, name: second }
  const found = grants.filter(({ name }) => name === text)
  const [one, ...others] = found
  if (others.length > 0)
    throw new AppError(
      'invalid_request',
      `grant ${text} is several: write ${found.map(each => `${each.namespace}/${each.name}`).join(' or ')}`,
    )
  if (one !== undefined) return one
  throw unknown(
    'grant',
    text,
    grants.map(({ name }) => name),
    `write NAMESPACE/NAME to halt one that does not exist yet; looked in ${namespace}`,
  )
}
