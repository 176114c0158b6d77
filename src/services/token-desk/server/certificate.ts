// The token desk's serving certificate: a short-lived leaf, issued at every start and renewed while the desk serves, by an
// authority that is made in the store and replaced with an overlap (authorities.ts). Workloads trust the authorities through
// the ConfigMap in every tenant namespace. No key leaves the process.
import { X509Certificate } from 'node:crypto'
import { platformNamespace } from '../../../api/names.ts'
import { issueCertificate, makeCertificateAuthority } from '../../../identity/certificate-authority.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Log } from '../../../lib/log.ts'
import { type Periodic, periodic } from '../../../lib/periodic.ts'
import type { ControllersStore } from '../../../store/store.ts'
import { type Certificate, createCertificate, type KeyPair } from '../../../web/tls.ts'
import {
  type Authority,
  authorityDays,
  authorityName,
  authorityText,
  dueGeneration,
  parseAuthority,
  servingAuthority,
  trustedBundle,
} from './authorities.ts'

const leafDays = 30
const hourMilliseconds = 3_600_000
const dayMilliseconds = 24 * hourMilliseconds

/** `start` begins to renew, and `stop` ends that. A failed renewal is logged; the old leaf stays in use. */
export type TokenDeskCertificate = Certificate &
  Pick<Periodic, 'start' | 'stop'> & {
    /** PEM of all authorities that workloads must trust now: public. */
    readonly authorities: () => string
  }

type Deps = {
  readonly keys: Pick<ControllersStore['keys'], 'find' | 'getOrCreate'>
  readonly audit: Pick<ControllersStore['audit'], 'appendOnce'>
  /** The host names of the desk and of the git proxy inside the cluster, such as `sekisho-token-desk.sekisho-system.svc`. */
  readonly hosts: readonly string[]
  /** The generation that must exist at least; raised to replace the authority before its time. */
  readonly generation: number
  /** How long workloads are given a new authority before it is used. */
  readonly overlapHours: number
  readonly clock: Clock
  readonly log: Log
  /** How often the authorities are looked at. Default an hour. */
  readonly lookMilliseconds?: number
  /** How old a leaf becomes. Default a day. */
  readonly leafMilliseconds?: number
}

// Memory (authorities of the token desk): generations, and the present leaf
//   life: an hour; the leaf a day
//   bound: one generation a year
//   freshness: the next look at the store
//   replicas: each looks for itself; what follows from the stored dates is the same, and both are trusted for a day around a
//     change
/** Opens or creates the authority and issues the first leaf. Rejects when the store fails or a key cannot be unsealed. */
export async function openTokenDeskCertificate(deps: Deps): Promise<TokenDeskCertificate> {
  const { clock, log, lookMilliseconds = hourMilliseconds, leafMilliseconds = dayMilliseconds } = deps
  let authorities = await currentAuthorities(deps)
  let leaf = await issue(deps, authorities)
  const certificate = createCertificate(leaf.pair)
  const look = async (): Promise<void> => {
    authorities = await currentAuthorities(deps)
    const serving = servingAuthority(authorities, clock.now())
    const young = clock.now().getTime() - leaf.issuedAt < leafMilliseconds
    if (young && leaf.generation === serving?.generation) return
    if (leaf.generation !== serving?.generation)
      log.info({ generation: serving?.generation }, 'the token desk uses its next authority')
    leaf = await issue(deps, authorities)
    certificate.replace(leaf.pair)
  }
  const { start, stop } = periodic({
    name: 'token desk certificate renewal',
    everyMilliseconds: lookMilliseconds,
    work: look,
    clock,
    log,
    waitsFirst: true,
  })
  return { ...certificate, authorities: () => trustedBundle(authorities, clock.now()), start, stop }
}

type Leaf = { readonly pair: KeyPair; readonly generation: number; readonly issuedAt: number }

async function issue({ hosts, clock }: Deps, authorities: readonly Authority[]): Promise<Leaf> {
  const now = clock.now()
  const authority = servingAuthority(authorities, now)
  if (authority === undefined) throw new AppError('internal', 'the token desk has no authority')
  const leaf = await issueCertificate({
    authority,
    commonName: 'sekisho-token-desk',
    dnsNames: hosts.flatMap(host => [host, `${host}.cluster.local`]),
    usage: 'server',
    now,
    lifetimeDays: leafDays,
  })
  const pair = { certificate: leaf.certificatePem, privateKey: leaf.privateKeyPem }
  return { pair, generation: authority.generation, issuedAt: now.getTime() }
}

/** All that are stored, with the one that is due. Replicas that create it at once get the same. */
async function currentAuthorities(deps: Deps): Promise<readonly Authority[]> {
  const { clock, log, generation: wanted } = deps
  const stored = await storedAuthorities(deps)
  const due = dueGeneration(stored, wanted, clock.now())
  if (due === undefined) {
    await record(deps, stored)
    return stored
  }
  const made = await deps.keys.getOrCreate(authorityName(due), () => make(deps, stored.length === 0))
  const authorities = [...stored, parseAuthority(due, made)]
  log.info({ generation: due, servedFrom: authorities.at(-1)?.servedFrom }, 'a new authority of the token desk exists')
  await record(deps, authorities)
  return authorities
}

/** Generations may have been left out: an admin may ask for any later one. */
async function storedAuthorities({ keys, generation: wanted }: Deps): Promise<readonly Authority[]> {
  const found: Authority[] = []
  for (let generation = 1; ; generation += 1) {
    const stored = await keys.find(authorityName(generation))
    if (stored !== undefined) found.push(parseAuthority(generation, stored))
    else if (generation >= wanted) return found
  }
}

async function make({ clock, overlapHours }: Deps, first: boolean) {
  const now = clock.now()
  const made = await makeCertificateAuthority({ commonName: 'sekisho-token-desk-ca', now, lifetimeDays: authorityDays })
  return authorityText({ ...made, servedFrom: first ? now : new Date(now.getTime() + overlapHours * hourMilliseconds) })
}

/** Once for each authority that replaces another, also when a process ended between the two. */
async function record({ audit }: Deps, authorities: readonly Authority[]): Promise<void> {
  const newest = authorities.at(-1)
  if (newest === undefined || authorities.length === 1) return
  const fingerprint = new X509Certificate(newest.certificatePem).fingerprint256
  await audit.appendOnce(
    {
      action: 'token-desk.authority-created',
      actor: 'sekisho:token-desk',
      namespace: platformNamespace,
      object: 'TokenDeskAuthority',
      outcome: 'allowed',
      reason: `generation ${newest.generation}: the one before it nears its end, or SEKISHO_TOKEN_DESK_AUTHORITY_GENERATION was raised`,
      details: { fingerprint, servedFrom: newest.servedFrom.toISOString() },
    },
    earlier => earlier.some(({ details }) => details.fingerprint === fingerprint),
  )
}
