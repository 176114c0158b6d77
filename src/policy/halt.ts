// Whether a Halt stands in the way of something. Pure: the token desk, the controllers and the broker ask this one function, so
// that they never disagree. A Halt in the namespace of a tenant holds for what is of that tenant, and for nothing else.
import type { Halt } from '../api/github/halt.ts'
import type { Installation } from '../api/github/installation.ts'
import { parseUserSubject, platformNamespace } from '../api/names.ts'

type Target = Halt['spec']['target']

/** What might be halted. What is not known is left out: nothing that is unknown is halted by it. */
export type HaltSubject = {
  /** The namespace of the tenant that it is of; undefined for what is of no tenant, such as a person. */
  readonly namespace?: string | undefined
  /** The name of the Tenant. */
  readonly tenant?: string | undefined
  readonly grant?: string | undefined
  /** The user in whose name it was requested, or who asks. */
  readonly requestedBy?: string | undefined
  readonly host?: string | undefined
  readonly installationId?: number | undefined
  /** The account of the installation. */
  readonly accountId?: number | undefined
  readonly repositoryIds?: readonly number[] | undefined
  /** Who asks for a token under the grant. */
  readonly workload?: { readonly kind: string; readonly name: string } | undefined
}

/** What a Halt may name of the Installation of a grant. */
export function ofInstallation(
  installation: Installation | undefined,
): Pick<HaltSubject, 'host' | 'installationId' | 'accountId'> {
  const { account, installationId } = installation?.spec ?? {}
  return { host: account?.host, installationId, accountId: account?.id }
}

/** Whether it holds: it is not lifted, and no dry run. */
export function stands({ spec }: Halt): boolean {
  return spec.lifted === undefined && spec.dryRun !== true
}

/** The first Halt that stands in the way. */
export function haltOf(halts: readonly Halt[], subject: HaltSubject): Halt | undefined {
  return halts.find(halt => stands(halt) && isWithin(halt, subject) && covers(halt, subject))
}

/** Whether the Halt, standing or not, is about it. */
export function isHaltedBy(halt: Halt, subject: HaltSubject): boolean {
  return isWithin(halt, subject) && covers(halt, subject)
}

function isWithin({ metadata }: Halt, { namespace }: HaltSubject): boolean {
  return metadata.namespace === platformNamespace || (namespace !== undefined && metadata.namespace === namespace)
}

type Judge = (target: Target, subject: HaltSubject, halt: Halt) => boolean

const judges: Readonly<Record<Target['type'], Judge>> = {
  Token: (_, { namespace, grant, workload }, { status }) => {
    const known = status?.subject
    if (known === undefined || workload === undefined) return false
    return known.namespace === namespace && known.grant === grant && known.kind === workload.kind && known.name === workload.name
  },
  Grant: ({ grant: halted }, { namespace, grant }) =>
    halted !== undefined && halted.namespace === namespace && halted.name === grant,
  Repository: ({ repository }, { host, repositoryIds = [] }) =>
    repository !== undefined && repository.host === host && repositoryIds.includes(repository.id),
  Person: ({ person }, { requestedBy }) => {
    const named = requestedBy === undefined ? undefined : parseUserSubject(requestedBy)
    return named !== undefined && named.host === person?.host && named.userId === person.id
  },
  Tenant: ({ tenant }, subject) => tenant !== undefined && tenant.name === subject.tenant,
  Installation: ({ installation }, { host, installationId, accountId }) =>
    installation !== undefined &&
    installation.host === host &&
    (installation.id === installationId || (accountId !== undefined && installation.account === accountId)),
  // What is of no tenant is nobody's token.
  Everything: (_, { namespace }) => namespace !== undefined,
}

function covers(halt: Halt, subject: HaltSubject): boolean {
  return judges[halt.spec.target.type](halt.spec.target, subject, halt)
}

/** For the person who is refused: which Halt it is, and who lifts it. Never its reason, which is for those who may read it. */
export function haltedText({ metadata }: Halt): string {
  const { namespace = '', name } = metadata
  const who = namespace === platformNamespace ? 'a platform admin' : 'an admin of the tenant'
  return `halted by Halt ${namespace}/${name} until ${who} lifts it (sekisho resume ${name})`
}
