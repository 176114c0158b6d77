// Requests the pack of exactly one commit from a git server, over protocol version 2, without git: one POST to the one host
// that a platform admin configured. The token is a header of this request and nothing else: no process, file, argument or
// environment ever has it. No redirects, no history, no tags, no submodules, no LFS.
// Source: https://git-scm.com/docs/gitprotocol-http , https://git-scm.com/docs/gitprotocol-v2
import { Agent, type Dispatcher } from 'undici'
import { basicAuthorization } from '../../../../github/index.ts'
import type { Clock } from '../../../../lib/clock.ts'
import { AppError, messageOf } from '../../../../lib/errors.ts'
import { redactTokens } from '../../../../lib/log.ts'
import type { SecretString } from '../../../../lib/secret-string.ts'
import { askGitPatiently, refusesToken } from '../../../git-answer.ts'
import { delimiterPacket, flushPacket, packetLine } from '../../../packet-lines.ts'
import { sourceReasons as reasons } from '../reasons.ts'
import { type PackAnswer, readPackAnswer, ServerError } from './pack-answer.ts'

export type FetchRequest = {
  /** The repository, such as https://github.com/acme/shop.git. */
  readonly repositoryUrl: string
  /** The web address of the GitHub host as a platform admin configured it: the only origin that is contacted. */
  readonly web: string
  readonly commit: string
  readonly token: SecretString
}

export type PackRequests = {
  /**
   * Resolves when the pack begins; whoever reads it to the end or ends it early frees the connection. Rejects, as does the
   * pack, with an AppError whose reason is CommitNotFound (another try would find the same) or FetchFailed.
   */
  readonly request: (request: FetchRequest, signal: AbortSignal) => Promise<PackAnswer>
  readonly close: () => Promise<void>
}

/** Without a byte for so long, the server has stopped. GitHub sends a sign of life every few seconds while it makes a pack. */
const silentMilliseconds = 20_000
const answerType = 'application/x-git-upload-pack-result'

function fetchFailed(message: string, cause?: unknown): AppError {
  return new AppError('unavailable', message, { reason: reasons.fetchFailed, cause })
}

/**
 * The parsed URL. https, or http where the configured host itself is http (an emulator, a private network).
 * @throws AppError FetchFailed for another origin or protocol, and for a URL with credentials
 */
function checkRepositoryUrl(repositoryUrl: string, web: string): URL {
  const refused = (message: string): AppError => new AppError('upstream_failed', message, { reason: reasons.fetchFailed })
  const url = new URL(repositoryUrl)
  const allowed = new URL(web)
  if (url.origin !== allowed.origin) throw refused(`the repository is not on ${allowed.origin}`)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refused('only https repositories are fetched')
  if (url.username !== '' || url.password !== '') throw refused('a repository URL must hold no credential')
  if (url.search !== '' || url.hash !== '') throw refused('a repository URL must hold neither query nor fragment')
  return url
}

/** One commit without its history. `done`: the server sends the pack at once. */
function bodyOf(commit: string): string {
  const capabilities = [packetLine('command=fetch\n'), packetLine('agent=sekisho\n')]
  if (commit.length === 64) capabilities.push(packetLine('object-format=sha256\n'))
  const wants = [`want ${commit}\n`, 'deepen 1\n', 'no-progress\n', 'ofs-delta\n', 'done\n']
  return [...capabilities, delimiterPacket, ...wants.map(packetLine), flushPacket].join('')
}

function headersOf(token: SecretString): Record<string, string> {
  return {
    authorization: basicAuthorization(token),
    'content-type': 'application/x-git-upload-pack-request',
    accept: answerType,
    'git-protocol': 'version=2',
    'user-agent': 'git/sekisho-source-store',
  }
}

function refusalOf(answer: Dispatcher.ResponseData): AppError | undefined {
  const { statusCode, headers } = answer
  if (statusCode >= 300 && statusCode < 400)
    return fetchFailed('git fetch failed: the server redirects to another address, which is not followed')
  if (refusesToken(answer)) return fetchFailed('git fetch failed: GitHub refused the token')
  if (statusCode === 404) return fetchFailed('git fetch failed: GitHub has no such repository, or the token does not reach it')
  if (statusCode !== 200) return fetchFailed(`git fetch failed: GitHub answered with the status ${statusCode}`)
  if (headers['content-type'] !== answerType || headers['content-encoding'] !== undefined)
    return fetchFailed('git fetch failed: the answer is not of git’s protocol')
  return undefined
}

function explained(error: unknown, commit: string): AppError {
  if (error instanceof AppError) return error
  const text = redactTokens(messageOf(error)).slice(0, 300)
  if (error instanceof ServerError && /not our ref|unadvertised object|no such/i.test(text))
    return new AppError('upstream_failed', `commit ${commit} does not exist on GitHub (any more)`, {
      reason: reasons.commitNotFound,
    })
  const late = error instanceof Error && 'code' in error && /^UND_ERR_(HEADERS|BODY|CONNECT)_TIMEOUT$/.test(String(error.code))
  if (late) return fetchFailed(`git fetch failed: the server sent nothing for ${silentMilliseconds / 1000} s`, error)
  return fetchFailed(`git fetch failed: ${text}`, error)
}

/** What breaks while the pack is read is explained like what breaks before. */
async function* explainedPack(pack: AsyncIterable<Buffer>, commit: string): AsyncGenerator<Buffer> {
  try {
    yield* pack
  } catch (error) {
    throw explained(error, commit)
  }
}

/** Connections of its own, so that a slow download does not wait among requests to GitHub's API. */
export function createPackRequests(clock: Clock): PackRequests {
  const dispatcher = new Agent({
    connections: 16,
    pipelining: 1,
    connect: { timeout: silentMilliseconds },
    headersTimeout: silentMilliseconds,
    bodyTimeout: silentMilliseconds,
    maxHeaderSize: 16_384,
  })
  return {
    async request({ repositoryUrl, web, commit, token }, signal) {
      const url = checkRepositoryUrl(repositoryUrl, web)
      try {
        const path = `${url.pathname}/git-upload-pack`
        const options = { origin: url.origin, path, method: 'POST' as const, headers: headersOf(token), body: bodyOf(commit) }
        const ask = () => dispatcher.request({ ...options, signal })
        const answer = await askGitPatiently({ clock, mintedAt: undefined, signal }, ask)
        const refusal = refusalOf(answer)
        if (refusal) {
          answer.body.destroy()
          throw refusal
        }
        const { shallow, pack } = await readPackAnswer(answer.body, commit)
        return { shallow, pack: explainedPack(pack, commit) }
      } catch (error) {
        throw explained(signal.aborted ? signal.reason : error, commit)
      }
    },
    close: () => dispatcher.destroy(),
  }
}
