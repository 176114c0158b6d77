// `sekisho policy test`: what a policy would change about the grants that exist, before it is written. It asks the function by
// which the controller decides, with what the objects say; what only GitHub knows, it says so. It changes nothing.
import { readFile } from 'node:fs/promises'
import type { GrantApproval } from '../../../api/github/grant-approval.ts'
import type { ClusterGrantPolicy, GrantPolicy } from '../../../api/github/grant-policy.ts'
import type { Halt } from '../../../api/github/halt.ts'
import type { Installation } from '../../../api/github/installation.ts'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import { isKubeError } from '../../../kube/client/errors.ts'
import { AppError } from '../../../lib/errors.ts'
import { defined } from '../../../lib/json/defined.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import { answersOf, noAnswers } from '../../../policy/grants/approvals.ts'
import { noClusterPolicyAllows } from '../../../policy/grants/decide-policies.ts'
import { compilePolicies, type GrantPolicies } from '../../../policy/grants/grant-policies.ts'
import { type KnownOfGrant, policyRuling } from '../../../policy/grants/policy-ruling.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import { fieldManager } from '../../kubernetes/cluster.ts'
import {
  clusterGrantPolicies,
  grantApprovals,
  grantPolicies,
  halts,
  installations,
  repositoryGrants,
} from '../../kubernetes/kinds.ts'
import { type ClusterFormat, present, table } from '../../output.ts'
import { timeRange } from '../audit/filters.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { platformPolicies } from './policies.ts'
import { recordedGrants } from './recorded-grants.ts'

type Options = {
  readonly output: ClusterFormat
  readonly filename: string
  readonly allNamespaces?: boolean
  /** The policies of the file as if they were deleted. */
  readonly deleted?: boolean
  readonly since?: string
}
type Policy = GrantPolicy | ClusterGrantPolicy

/** What becomes of a grant: `waits` for people who approve it, `depends` on what GitHub says about teams, roles or visibility. */
type Effect = 'ends' | 'waits' | 'may be approved' | 'depends' | 'new token life' | 'as before'

/**
 * Part of the contract of the command. `recorded`: the grant is gone, and this is when it was last decided. `audit`: a policy in
 * mode Audit is among those that were asked.
 */
type Tested = {
  readonly grant: string
  readonly recorded?: string
  readonly effect: Effect
  readonly rule: string
  readonly message: string
  readonly audit: boolean
}

const maxBytes = 4 * 1024 * 1024

/**
 * Says for each grant of the namespace what the policies of the file would change, and for those that the log has since
 * `--since` and that are gone what they would have changed.
 */
export async function policyTest({ cluster, terminal, clock, api }: ClusterContext, options: Options): Promise<void> {
  const { client, namespace } = cluster
  const { since } = timeRange({ clock, say: terminal.say }, options)
  const read = await readPolicies(options.filename)
  const tested: Policy[] = []
  for (const policy of read) tested.push(options.deleted === true ? placed(cluster, policy) : await judged(cluster, policy))
  const where = options.allNamespaces === true ? {} : { namespace }
  const ofPlatform = await platformPolicies(client)
  const [own, grants, bound, given, standing] = [
    await client.list(grantPolicies, where),
    await client.list(repositoryGrants, where),
    await client.list(installations, where),
    await client.list(grantApprovals, where),
    // Those of the platform are not for tenants to read.
    await client.list(halts, where),
  ]
  const changed = (before: readonly Policy[], kind: string): readonly Policy[] => {
    const added = tested.filter(policy => policy.kind === kind)
    const isReplaced = ({ metadata }: Policy): boolean =>
      added.some(one => one.metadata.name === metadata.name && one.metadata.namespace === metadata.namespace)
    return [...before.filter(policy => !isReplaced(policy)), ...(options.deleted === true ? [] : added)]
  }
  const capped = changed(ofPlatform ?? [], 'ClusterGrantPolicy')
  const ofAll = changed(own, 'GrantPolicy')
  const uids = new Set(grants.map(({ metadata }) => metadata.uid))
  const past = since && (await recordedGrants(await api(), { ...where, since }, uid => uids.has(uid)))
  const asked: readonly Asked[] = [
    ...grants.map(grant => ({ grant, known: knownOf(grant, { bound, given, standing, now: clock.now() }) })),
    ...(past?.grants ?? []).map(({ grant, host }) => ({
      grant,
      known: knownOfRecorded(grant, host),
      recorded: grant.status?.decidedAt,
    })),
  ]
  const byNamespace = Map.groupBy(asked, ({ grant: { metadata } }) => metadata.namespace ?? '')
  const rows = [...byNamespace].flatMap(([name, some]) => {
    const isHere = ({ metadata }: Policy): boolean => metadata.namespace === name
    const after = compilePolicies(capped, ofAll.filter(isHere))
    // What the platform allows is not known here: what the file changes is seen by comparing with what is known without it.
    const before = ofPlatform === undefined ? compilePolicies([], own.filter(isHere)) : undefined
    return some.map(({ grant, known, recorded }) => {
      const tested = before === undefined ? effectOn(grant, known, after) : effectBeside(grant, known, { before, after })
      return { ...tested, ...defined({ recorded }) }
    })
  })
  const shown = rows.map(({ grant, recorded, effect, rule, message }) => [
    recorded === undefined ? grant : `${grant} (gone, ${recorded.slice(0, 16)}Z)`,
    effect,
    rule,
    message,
  ])
  const text = () =>
    rows.length === 0 ? 'there is no RepositoryGrant that it could be about' : table(['GRANT', 'EFFECT', 'RULE', 'WHY'], shown)
  await present(terminal, options.output, { value: rows, text })
  if (ofPlatform === undefined)
    terminal.say('You may not read ClusterGrantPolicies: what the platform allows beyond its built-in rules is not considered.')
  if (past?.cut === true) terminal.say('The log has more grants of that time: these are the newest. Ask for a shorter time.')
}

type Asked = { readonly grant: RepositoryGrant; readonly known: KnownOfGrant; readonly recorded?: string | undefined }

async function readPolicies(file: string): Promise<readonly Policy[]> {
  const bytes = await readFile(file === '-' ? '/dev/stdin' : file).catch((error: unknown) => {
    throw new AppError('invalid_request', `${file} cannot be read: ${(error as Error).message}`)
  })
  if (bytes.length > maxBytes) throw new AppError('invalid_request', `${file} is larger than 4 MiB`)
  const { parseAllDocuments } = await import('yaml')
  const documents = parseAllDocuments(bytes.toString('utf8'))
  const objects = Array.isArray(documents) ? documents.map(document => contentOf(file, document)) : []
  const policies = objects.filter(isPolicy)
  if (policies.length === 0 || policies.length < objects.length)
    throw new AppError('invalid_request', `${file} must have GrantPolicies and ClusterGrantPolicies, and nothing else`)
  return policies
}

type YamlDocument = { readonly errors: readonly Error[]; readonly toJS: (options: { maxAliasCount: number }) => unknown }

function contentOf(file: string, document: YamlDocument): unknown {
  const [error] = document.errors
  if (error !== undefined) throw new AppError('invalid_request', `${file} is not YAML: ${error.message}`)
  return document.toJS({ maxAliasCount: 0 })
}

function isPolicy(value: unknown): value is Policy {
  const { kind, apiVersion } = (value ?? {}) as { readonly kind?: unknown; readonly apiVersion?: unknown }
  return apiVersion === grantPolicies.apiVersion && (kind === grantPolicies.kind || kind === clusterGrantPolicies.kind)
}

/** In its namespace, or in that of the command. */
function placed({ namespace }: Pick<Cluster, 'namespace'>, { apiVersion, kind, metadata: of, spec }: Policy): Policy {
  const name = of?.name ?? ''
  const metadata = kind === grantPolicies.kind ? { name, namespace: of?.namespace ?? namespace } : { name }
  return { apiVersion, kind, metadata, spec }
}

/** As the API server would store it: it judges the policy with all its rules, and stores nothing. */
async function judged({ client, namespace }: Cluster, policy: Policy): Promise<Policy> {
  const object = placed({ namespace }, policy)
  const { name } = object.metadata
  try {
    return await client.apply(policy.kind === grantPolicies.kind ? grantPolicies : clusterGrantPolicies, object, {
      fieldManager,
      force: true,
      dryRun: true,
    })
  } catch (error) {
    if (!isKubeError(error, 403)) throw error
    throw new AppError(
      'forbidden',
      `you may not write ${policy.kind} ${name}, so the API server does not judge it: who may write it can also test it`,
    )
  }
}

type Around = {
  readonly bound: readonly Installation[]
  readonly given: readonly GrantApproval[]
  readonly standing: readonly Halt[]
  readonly now: Date
}

function knownOf(grant: RepositoryGrant, { bound, given, standing, now }: Around): KnownOfGrant {
  const { metadata, spec, status } = grant
  const installation = bound.find(one => one.metadata.namespace === metadata.namespace && one.metadata.name === spec.installation)
  const repositories: KnownOfGrant['repositories'] =
    status?.repositories?.map(({ id, name }) => ({ id, name, visibility: undefined })) ??
    spec.repositories.map(name => ({ id: undefined, name, visibility: undefined }))
  const host = installation?.spec.account.host
  const answers = answersOf(
    given.filter(({ metadata: { namespace } }) => namespace === metadata.namespace),
    { grant, host, halts: standing, now },
  )
  return { host: host ?? '', repositories, memberships: new Map(), answers }
}

/** The log has neither visibility nor roles, and nobody answers for what is gone. */
function knownOfRecorded({ status }: RepositoryGrant, host: string): KnownOfGrant {
  const repositories = status?.repositories?.map(({ id, name }) => ({ id, name, visibility: undefined })) ?? []
  return { host, repositories, memberships: new Map(), answers: noAnswers }
}

type Change = { readonly before: GrantPolicies; readonly after: GrantPolicies }

/** Where ClusterGrantPolicies are not known: nothing ends because they are not there. */
function effectBeside(grant: RepositoryGrant, known: KnownOfGrant, { before, after }: Change): Tested {
  const tested = effectOn(grant, known, after)
  const [now, then] = [before, after].map(one => policyRuling(one.audited ?? one.enforced, grant, known))
  if (sameJson(now, then)) {
    const rule = grant.status?.rule ?? tested.rule
    return { ...tested, effect: 'as before', rule, message: 'what the file says changes nothing about it' }
  }
  const isUnseen = tested.rule === noClusterPolicyAllows && tested.effect !== 'as before'
  return isUnseen ? { ...tested, effect: 'depends', message: 'on the ClusterGrantPolicies, which you may not read' } : tested
}

/** Policies in mode Audit are tested as if they were enforced: the result is what they would change. */
function effectOn(grant: RepositoryGrant, known: KnownOfGrant, after: GrantPolicies): Tested {
  const isAudit = after.audited !== undefined
  const then = policyRuling(after.audited ?? after.enforced, grant, known)
  const { decision } = grant.status ?? {}
  const named = `${grant.metadata.namespace}/${grant.metadata.name}`
  if (then.decision === 'Unknown') {
    const { teams, roles, repositories } = then.needs
    const open = [
      ...teams.map(id => `team ${id}`),
      ...roles.map(role => `role ${role}`),
      ...(repositories ? ['the repositories'] : []),
    ]
    return { grant: named, effect: 'depends', rule: '', message: `on what GitHub says about ${open.join(', ')}`, audit: isAudit }
  }
  const changed = ({ Approved: 'may be approved', Waiting: 'waits', Denied: 'ends' } as const)[then.decision]
  const { lifetimes = [] } = then
  const isOfSameLife = then.decision !== 'Approved' || sameJson(lifetimes, grant.status?.tokenLifetimes ?? [])
  const isSame = then.decision === (decision ?? 'Denied')
  const effect: Effect = isSame ? (isOfSameLife ? 'as before' : 'new token life') : changed
  return { grant: named, effect, rule: then.rule, message: then.message, audit: isAudit }
}
