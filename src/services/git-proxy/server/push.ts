// A push: the list of refs is read and judged before GitHub hears of it, each ref is in the audit log before and after, and
// GitHub gets the list as it was understood, then the pack as it comes.
import { randomUUID } from 'node:crypto'
import type { AuditRecord } from '../../../api/audit/audit-event.ts'
import { AppError, messageOf } from '../../../lib/errors.ts'
import type { KeyedBuckets } from '../../../lib/limits/keyed-buckets.ts'
import type { CountedAudit } from '../../../store/audit/counted-audit.ts'
import { beginsPack, commandList, createCommandReader, hasPack, type PushCommands } from '../push/commands.ts'
import { intendedRecord, pushedRecord, refusedEvent } from '../push/records.ts'
import { refProblemUnder } from '../push/ref-rules.ts'
import { createReportReader, refusalReport } from '../push/report.ts'
import type { GitStream } from '../streams/git-streams.ts'
import { drain, requestBody } from '../streams/request-body.ts'
import { begin, type Exchange, maxDrained, passOn, type TransferDeps } from './transfer.ts'

export type PushDeps = TransferDeps & {
  /** Resolves when the record is durable. */
  readonly audit: { readonly append: (record: AuditRecord) => Promise<unknown> }
  readonly counted: Pick<CountedAudit, 'append'>
  /** Refs that one tenant may push. */
  readonly refs: KeyedBuckets
}

/** As large as a push to GitHub may be. */
const maxPushBytes = 2 * 1024 * 1024 * 1024
const answers = 'application/x-git-receive-pack-result'

/** Resolves when the answer has ended. @throws AppError before it began */
export async function push(deps: PushDeps, exchange: Exchange, stream: GitStream): Promise<void> {
  const { request, access } = exchange
  if ((request.raw.headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new AppError('invalid_request', 'a push must not be compressed: packs are')
  const body = requestBody(request.raw, { most: maxPushBytes, stream })
  const { commands, rest } = await readCommands(body)
  if (commands.updates.length === 0) return answer(exchange, stream, Buffer.alloc(0))
  const problems = problemsOf(commands, access.refs)
  if (problems.size > 0) {
    for (const [ref, reason] of problems)
      await deps.counted.append(refusedEvent(access, { check: 'RefNotAllowed', reason, ref: ref.slice(0, 300) }))
    return answer(
      exchange,
      stream,
      refusalReport(commands, ref => problems.get(ref) ?? 'another ref of this push is refused'),
    )
  }
  takeRefs(deps, access.request.subject.namespace, commands.updates.length)
  const pack = await packAfter(body, rest, hasPack(commands))
  const records = { ...access, pushId: randomUUID() }
  const report = createReportReader(commands)
  const recorded = new Set<string>()
  const record = async (): Promise<void> => {
    const open = commands.updates.filter(({ ref }) => !recorded.has(ref))
    await Promise.all(
      open.map(async update => {
        await deps.audit.append(pushedRecord(records, update, report.resultOf(update.ref)))
        recorded.add(update.ref)
      }),
    )
  }
  stream.signal.throwIfAborted()
  try {
    await Promise.all(commands.updates.map(update => deps.audit.append(intendedRecord(records, update))))
    await passOn(deps, exchange, stream, {
      ...{ method: 'POST', path: '/git-receive-pack', answers },
      headers: { 'content-type': 'application/x-git-receive-pack-request' },
      body: counted(deps, toGitHub(commands, pack)),
      watcher: { add: report.add, end: record },
    })
  } finally {
    // Whatever broke: what became of the refs is recorded as far as it is known, and what could not be is tried once more.
    await record().catch((error: unknown) => deps.log.error({ error: messageOf(error) }, 'the end of a push was not recorded'))
  }
}

/** Refs that may not be changed, each with the reason. */
function problemsOf({ updates }: PushCommands, patterns: readonly string[] | undefined): ReadonlyMap<string, string> {
  const problem = refProblemUnder(patterns)
  return new Map(
    updates.flatMap(({ ref }) => {
      const reason = problem(ref)
      return reason === undefined ? [] : [[ref, reason] as const]
    }),
  )
}

/**
 * The whole answer at once. It ends when the rest of the request was read: a client that wants the connection closed would be cut
 * off while it sends, and not read why.
 */
async function answer({ request, reply }: Exchange, stream: GitStream, bytes: Buffer): Promise<void> {
  begin(request, reply, answers)
  reply.raw.write(bytes)
  await drain(request.raw, { most: maxDrained, stream }, () => reply.raw.end(() => request.raw.destroy()))
  reply.raw.end()
}

async function readCommands(body: AsyncGenerator<Buffer>): Promise<{ readonly commands: PushCommands; readonly rest: Buffer }> {
  const reader = createCommandReader()
  for (let piece = await body.next(); !piece.done; piece = await body.next()) {
    const read = reader.add(piece.value)
    if (read !== undefined) return read
  }
  throw new AppError('invalid_request', 'the push ends within its list of refs')
}

function takeRefs({ refs }: PushDeps, namespace: string, count: number): void {
  for (let taken = 0; taken < count; taken += 1) {
    const wait = refs.take(namespace)
    if (wait === 0) continue
    throw new AppError('too_many_requests', 'this tenant pushes too many refs: push fewer at once, or later', {
      ...{ reason: 'RateLimited', retryAfterSeconds: Math.ceil(wait / 1000) },
    })
  }
}

/** What follows the list, once it is known that it begins as it must. @throws AppError `invalid_request` */
async function packAfter(body: AsyncGenerator<Buffer>, rest: Buffer, wanted: boolean): Promise<AsyncIterable<Buffer>> {
  let head = rest
  while (wanted ? beginsPack(head) === undefined : head.length === 0) {
    const piece = await body.next()
    if (piece.done) break
    head = Buffer.concat([head, piece.value])
  }
  if (wanted ? beginsPack(head) !== true : head.length > 0)
    throw new AppError(
      'invalid_request',
      wanted ? 'the push has no pack after its list of refs' : 'a push that only deletes refs has more than their list',
    )
  const first = head
  return (async function* () {
    if (first.length > 0) yield first
    yield* body
  })()
}

async function* toGitHub(commands: PushCommands, pack: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield commandList(commands)
  yield* pack
}

async function* counted(
  { metrics, turns }: Pick<PushDeps, 'metrics' | 'turns'>,
  body: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  for await (const piece of body) {
    metrics.passed('to GitHub', piece.length)
    await turns.pass(piece.length)
    yield piece
  }
}
