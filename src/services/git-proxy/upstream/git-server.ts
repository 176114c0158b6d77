// The client of GitHub's git server: one request each, whose body and answer are streams. It contacts only the origin that a
// platform admin configured for the host and follows no redirect; the token is a header of the request and nothing else.
// Source: https://git-scm.com/docs/http-protocol
import type { Readable } from 'node:stream'
import { Agent, type Dispatcher } from 'undici'
import { basicAuthorization } from '../../../github/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError, messageOf } from '../../../lib/errors.ts'
import { redactTokens } from '../../../lib/log.ts'
import type { SecretString } from '../../../lib/secret-string.ts'
import { askGit, askGitPatiently } from '../../git-answer.ts'

export type GitRequest = {
  /** The web address of the GitHub host, without a slash at its end. */
  readonly web: string
  /** `owner/name` as GitHub said it. */
  readonly fullName: string
  /** `/info/refs?service=…`, `/git-upload-pack` or `/git-receive-pack`. */
  readonly path: string
  readonly method: 'GET' | 'POST'
  readonly token: SecretString
  /** Undefined: it may be new to GitHub. */
  readonly mintedAt: Date | undefined
  readonly headers: Readonly<Record<string, string>>
  /** The only content type of an answer. */
  readonly answers: string
  readonly body?: AsyncIterable<Uint8Array>
}

export type GitServer = {
  /**
   * Resolves when the answer begins; the caller reads it to the end or destroys it. @throws AppError `forbidden` when GitHub
   * refuses, `unavailable` for everything else
   */
  readonly request: (request: GitRequest, signal: AbortSignal) => Promise<Readable>
  readonly close: () => Promise<void>
}

const connectMilliseconds = 20_000

/** Connections of its own, so that slow transfers do not wait among requests to GitHub's API. */
export function createGitServer(clock: Clock): GitServer {
  // Without limits of its own: what is silent for too long is cut by the stream, which sees both directions.
  const dispatcher = new Agent({
    ...{ pipelining: 1, connect: { timeout: connectMilliseconds } },
    ...{ headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 16_384 },
  })
  return {
    async request({ web, fullName, path, method, token, mintedAt, headers, answers, body = undefined }, signal) {
      const { origin, pathname } = new URL(web)
      const name = fullName.split('/').map(encodeURIComponent).join('/')
      const authorization = basicAuthorization(token)
      const options = {
        ...{ origin, method, signal, path: `${pathname.replace(/\/$/, '')}/${name}.git${path}` },
        headers: { ...headers, authorization, accept: answers, 'user-agent': 'git/sekisho-git-proxy' },
        ...(body === undefined
          ? {}
          : { body: body as unknown as Dispatcher.DispatchOptions['body'] & AsyncIterable<Uint8Array> }),
      }
      const ask = () => dispatcher.request(options as Dispatcher.RequestOptions)
      // A body can be sent only once; git's first request has none.
      const asked = body === undefined ? askGitPatiently({ clock, mintedAt, signal }, ask) : askGit(ask)
      const answer = await asked.catch((error: unknown) => {
        throw explained(signal.aborted ? signal.reason : error)
      })
      const refusal = refusalOf(answer, answers)
      if (refusal === undefined) return answer.body
      answer.body.destroy()
      throw refusal
    },
    close: () => dispatcher.destroy(),
  }
}

function refusalOf({ statusCode, headers }: Dispatcher.ResponseData, answers: string): AppError | undefined {
  if (statusCode >= 300 && statusCode < 400)
    return unavailable('GitHub has another address for the repository, which is not followed: it was renamed just now, try again')
  if (statusCode === 401 || statusCode === 403 || statusCode === 404)
    return new AppError(
      'forbidden',
      'GitHub refused: the repository is gone or archived, or the grant does not reach it any more',
    )
  if (statusCode === 429) return unavailable('GitHub limits the rate of requests: try again later')
  if (statusCode !== 200) return unavailable(`GitHub answered with the status ${statusCode}`)
  if (headers['content-type'] !== answers || headers['content-encoding'] !== undefined)
    return unavailable('what GitHub answered is not of git’s protocol')
  return undefined
}

function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('unavailable', message, cause === undefined ? {} : { cause })
}

function explained(error: unknown): AppError {
  if (error instanceof AppError) return error
  return unavailable(`GitHub cannot be reached: ${redactTokens(messageOf(error)).slice(0, 300)}`, error)
}
