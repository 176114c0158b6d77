// `sekisho audit verify`: downloads the log and verifies it on this computer. It trusts only the issuer's signature, and saves
// the head: the next run goes on after it, and finds by it a truncated or rewritten log. At least once a week it reads
// everything again, because whoever alters an old entry leaves the new ones as they are. With `--export` it reads a file instead.
import { type CheckpointKeys, mergedKeys, verifyCheckpoint } from '../../../identity/oidc/audit-checkpoint.ts'
import { AppError } from '../../../lib/errors.ts'
import { isSameHead, startBefore } from '../../../lib/hash-chain/chain-start.ts'
import { type ChainHead, entryHash } from '../../../lib/hash-chain/hash-chain.ts'
import { asObject, isJsonObject, textAt } from '../../../lib/json/json-value.ts'
import { isHead, type RememberedHead, rememberedHead, rememberHead } from '../../files/audit-head-file.ts'
import { noCheckpoints, readCheckpoints } from '../../files/checkpoint-file.ts'
import type { PlainFormat } from '../../output.ts'
import type { PlatformApi } from '../../platform-api.ts'
import type { CommandContext } from '../context.ts'
import { entriesOf } from './entry.ts'
import { streamEntries } from './entry-stream.ts'
import { requireCut, type Signer, statementIn } from './verification/losses.ts'
import { platformCheckpoints } from './verification/platform-checkpoints.ts'
import { showVerified, type Verified } from './verification/show-verified.ts'
import { verifyEntries } from './verification/verify-entries.ts'

type SignedHead = ChainHead & { readonly statement: string }

function isSignedHead(value: unknown): value is SignedHead {
  return isHead(value) && textAt(asObject(value), 'statement') !== undefined
}

function isKeySet(value: unknown): value is CheckpointKeys {
  return isJsonObject(value) && Array.isArray(value['keys'])
}

/** Rejects as `api` does without a response: an outage must not look like a changed log. */
export async function platformKeys(api: PlatformApi): Promise<CheckpointKeys> {
  const keys = await api.json('/oidc/jwks')
  if (isKeySet(keys)) return keys
  throw new AppError('upstream_failed', 'the platform sent no signing keys')
}

/** The head that the platform signs now. */
export async function signedHead(api: PlatformApi, { keys, issuer }: Signer): Promise<RememberedHead & SignedHead> {
  const head = await api.json('/api/v1/audit/head')
  if (!isSignedHead(head)) throw new AppError('integrity_violation', 'the platform sent no signed head')
  const stated = await verifyCheckpoint(head.statement, keys, issuer)
  if (stated.sequence !== head.sequence || stated.hash !== head.hash)
    throw new AppError('integrity_violation', 'the signed head differs from the head that the platform reports')
  return { ...stated, statement: head.statement }
}

/** Where the log begins, and the cut that allows it. A key that signed a cut may have been replaced since: `former` has it. */
export async function provenStart(api: PlatformApi, signer: Signer) {
  const page = (query: Record<string, string>) => api.lines('/api/v1/audit', new URLSearchParams(query)).then(entriesOf)
  const [first] = await page({ after: '0', limit: '1' })
  const start = startBefore(first)
  if (start.sequence === 0) return { start, cut: undefined, statements: [] }
  const former = await platformCheckpoints(api)
  const approvals = await page({ action: 'audit.prune-approved', limit: '100' })
  const statements = approvals.flatMap(entry => statementIn(entry, 'audit.prune-approved') ?? [])
  const cut = await requireCut(start, statements, { ...signer, keys: mergedKeys(signer.keys, former.keys) })
  return { start, cut, statements }
}

export type AuditVerifyOptions = { readonly output: PlainFormat; readonly checkpoint?: string; readonly all?: boolean }

/** After so long everything is read again. */
const completeMilliseconds = 7 * 86_400_000

/**
 * Verifies the log and saves its head. Rejects with `integrity_violation` when an entry is not what it was, and with
 * `log_truncated` when all entries verify but attested ones are missing.
 */
export async function auditVerify(context: CommandContext, options: AuditVerifyOptions): Promise<void> {
  showVerified(context, options.output, await verifyOnline(context, options))
}

/** As `auditVerify`, and says nothing. */
export async function verifyOnline(
  context: CommandContext,
  options: Pick<AuditVerifyOptions, 'checkpoint' | 'all'>,
): Promise<Verified> {
  const { settings, say, clock } = context
  const { issuer } = settings
  const api = await context.api()
  const remembered = await rememberedHead(settings)
  const keys = await platformKeys(api)
  const stated = await signedHead(api, { keys, issuer })
  const kept = options.checkpoint === undefined ? noCheckpoints : await readCheckpoints(options.checkpoint, keys, issuer)
  const signer: Signer = { keys: mergedKeys(keys, ...kept.keySets), issuer }
  const { start, cut } = await provenStart(api, signer)
  const goesOn = options.all !== true && kept.heads.length === 0 && (await isWhereToGoOn(context, api, remembered, start))
  const from = goesOn && remembered !== undefined ? { sequence: remembered.sequence, hash: remembered.hash } : start
  const verified = await verifyEntries({
    entries: streamEntries(context, { after: from.sequence }),
    start: from,
    heads: [stated, ...(remembered === undefined ? [] : [remembered]), ...kept.heads],
    acknowledgements: [],
    signer,
    say,
  })
  const completeAt = goesOn ? (remembered?.completeAt ?? clock.now()) : clock.now()
  const head = isSameHead(stated, verified.head) ? stated : { ...verified.head, attestedAt: clock.now() }
  await rememberHead(settings, { ...head, completeAt })
  return { ...verified, from, start, cut, remembered, checkpoints: kept.heads.length, completeAt }
}

/** The remembered entry is there as it was, and not long ago everything before it was read. */
async function isWhereToGoOn(
  { clock }: CommandContext,
  api: PlatformApi,
  remembered: RememberedHead | undefined,
  start: ChainHead,
): Promise<boolean> {
  if (remembered?.completeAt === undefined || remembered.sequence <= start.sequence) return false
  const age = clock.now().getTime() - remembered.completeAt.getTime()
  if (age < 0 || age > completeMilliseconds) return false
  const query = new URLSearchParams({ after: String(remembered.sequence - 1), limit: '1' })
  const [entry] = entriesOf(await api.lines('/api/v1/audit', query))
  return entry !== undefined && isSameHead(entry, remembered) && entryHash(entry) === entry.hash
}
