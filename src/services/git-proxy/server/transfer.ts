// One transfer between a client and GitHub: the answer of GitHub passes as it comes, no faster than the client reads, and what
// fails after it began cuts the connection, which git reports.
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, isAppError } from '../../../lib/errors.ts'
import type { Log } from '../../../lib/log.ts'
import type { ProxyMetrics } from '../metrics.ts'
import { endReason, type GitStream, type GitStreams } from '../streams/git-streams.ts'
import type { LoopTurns } from '../streams/loop-turns.ts'
import { drain } from '../streams/request-body.ts'
import type { GitRequest, GitServer } from '../upstream/git-server.ts'
import type { RepositoryNames } from '../upstream/repository-names.ts'
import type { AdmittedAccess } from './access.ts'

export type TransferDeps = {
  readonly github: Pick<GitServer, 'request'>
  readonly streams: Pick<GitStreams, 'run'>
  readonly turns: LoopTurns
  readonly names: Pick<RepositoryNames, 'forget'>
  readonly metrics: ProxyMetrics
  readonly log: Log
}

export type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly access: AdmittedAccess }

/** The answer, piece by piece, and what must be done before its end reaches the client. */
export type Watcher = { readonly add: (piece: Buffer) => void; readonly end: () => Promise<void> }

/** What is still read of a request that was refused, so that its sender reads why. */
export const maxDrained = 32 * 1024 * 1024

/**
 * Runs a transfer at its turn; its signal is also aborted when the client is gone. What fails before the answer began is
 * thrown, after the rest of the request was read.
 */
export function runTransfer(
  { streams }: Pick<TransferDeps, 'streams'>,
  { request, reply, access }: Exchange,
  work: (stream: GitStream) => Promise<void>,
): Promise<void> {
  return streams.run({ request: access.request, repositoryId: access.repository.id }, async stream => {
    // Also emitted after an answer that was read to its end.
    const gone = (): void => {
      if (!reply.raw.writableFinished) stream.abort(new AppError('unavailable', 'the client is gone'))
    }
    // Whoever still sends, or is silent, would keep the place.
    const cut = (): void => {
      if (!request.raw.complete) request.raw.destroy()
    }
    stream.signal.addEventListener('abort', cut, { once: true })
    reply.raw.once('close', gone)
    try {
      if (reply.raw.destroyed) return
      await work(stream)
      await drain(request.raw, { most: maxDrained, stream })
    } catch (error) {
      if (!reply.raw.headersSent) await drain(request.raw, { most: maxDrained, stream })
      throw error
    } finally {
      reply.raw.off('close', gone)
    }
  })
}

/** Asks GitHub and passes its answer to the client. Resolves at its end; a transfer that broke off after it began is logged. */
export async function passOn(
  { github, turns, names, metrics, log }: Omit<TransferDeps, 'streams'>,
  { request, reply, access }: Exchange,
  stream: GitStream,
  { watcher, ...asked }: Omit<GitRequest, 'web' | 'fullName' | 'token' | 'mintedAt'> & { readonly watcher?: Watcher },
): Promise<void> {
  const { web, token, mintedAt, repository } = access
  try {
    const answer = await github.request({ ...asked, web, token, mintedAt, fullName: repository.fullName }, stream.signal)
    stream.touch()
    begin(request, reply, asked.answers)
    const passing = new Transform({
      transform(piece: Buffer, _encoding, done) {
        stream.touch()
        metrics.passed('to workloads', piece.length)
        watcher?.add(piece)
        void turns.pass(piece.length).then(() => done(null, piece))
      },
      flush(done) {
        if (watcher === undefined) done()
        else watcher.end().then(() => done(), done)
      },
    })
    await pipeline(answer, passing, reply.raw, { signal: stream.signal })
  } catch (error) {
    if (isAppError(error)) names.forget(access.request.grant.metadata.uid ?? '', repository.id)
    if (!reply.raw.headersSent) throw stream.signal.aborted ? stream.signal.reason : error
    log.info({ reason: endReason(stream, error) }, 'a transfer through the git proxy broke off')
    reply.raw.destroy()
  }
}

/** From here on the answer is written past Fastify. */
export function begin(request: FastifyRequest, reply: FastifyReply, type: string): void {
  reply.hijack()
  reply.raw.writeHead(200, { 'content-type': type, 'cache-control': 'no-store', 'x-request-id': request.id })
}
