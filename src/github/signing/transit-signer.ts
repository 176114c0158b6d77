// Signs by the API of a key server (the transit engine of HashiCorp Vault and OpenBao): the key stays there. One request for each
// signature, over TLS, to the one address that a platform admin wrote; no redirects, no proxy.
// Source: https://developer.hashicorp.com/vault/api-docs/secret/transit#sign-data
import { Agent, request } from 'undici'
import { AppError, messageOf } from '../../lib/errors.ts'
import { readAtMost } from '../../lib/http/byte-stream.ts'
import { retryAfterSeconds } from '../../lib/http/retry-after.ts'
import { asObject, parseJson, textAt } from '../../lib/json/json-value.ts'
import { redactTokens } from '../../lib/log.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import type { Signer } from './signer.ts'

export type TransitSignerOptions = {
  /** `https://<host>[:port]`. */
  readonly address: string
  /** Where the engine is mounted. */
  readonly mount: string
  readonly key: string
  readonly token: SecretString
  /** PEM; the system's authorities when absent. */
  readonly certificateAuthority?: string
}

/** Reason of the error when the server refuses: somebody has to change something. */
export const signerRefused = 'SignerRefused'

const timeoutMilliseconds = 5000
const maxAnswerBytes = 65_536
/** Of an RSA key of 2,048 to 8,192 bits. */
const signatureBytes = { least: 256, most: 1024 }

/**
 * `sign` throws `invalid_configuration` (reason SignerRefused) when the server refuses or does not sign with RSA, and
 * `unavailable` when it does not answer.
 */
export function transitSigner({ address, mount, key, token, certificateAuthority }: TransitSignerOptions): Signer {
  const origin = URL.parse(address)?.origin
  if (origin === undefined) throw refused(`cannot be used: spec.signer.transit.address is no address: ${address}`)
  const url = `${origin}/v1/${mount.split('/').map(encodeURIComponent).join('/')}/sign/${encodeURIComponent(key)}/sha2-256`
  const dispatcher = new Agent({
    connections: 4,
    connect: { timeout: timeoutMilliseconds, ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }) },
    headersTimeout: timeoutMilliseconds,
    bodyTimeout: timeoutMilliseconds,
    maxHeaderSize: 16_384,
  })
  return {
    isRemote: true,
    async sign(bytes) {
      const asked = { input: bytes.toString('base64'), signature_algorithm: 'pkcs1v15' }
      const answer = await request(url, {
        dispatcher,
        method: 'POST',
        headers: { 'x-vault-token': token.reveal(), 'x-vault-request': 'true', 'content-type': 'application/json' },
        body: JSON.stringify(asked),
        signal: AbortSignal.timeout(timeoutMilliseconds),
      }).catch((error: unknown) => {
        throw unavailable(`cannot be reached: ${redactTokens(messageOf(error)).slice(0, 200)}`)
      })
      const body = await readAtMost(maxAnswerBytes, answer.body).catch(() => undefined)
      if (answer.statusCode === 200 && body !== undefined) return signatureIn(body)
      const wait = retryAfterSeconds(answer.headers['retry-after'], new Date())
      throw failure(answer.statusCode, wait)
    },
  }
}

/** The server's own words are left out: they may name what others store there. */
function failure(status: number, wait: number | undefined): AppError {
  if (status === 429 || status >= 500 || status === 200) return unavailable(`answered with the status ${status}`, wait)
  const cure =
    status === 403
      ? 'its token must be valid and have the capability update on transit/sign/<key>'
      : 'check address, mount and key of spec.signer.transit, and that the key is an RSA key'
  return refused(`answered with the status ${status}: ${cure}`)
}

function signatureIn(body: Buffer): Buffer {
  const said = textAt(asObject(asObject(parseJson(body.toString('utf8')))?.['data']), 'signature') ?? ''
  const encoded = /^[a-z]{1,16}:v[0-9]{1,9}:([A-Za-z0-9+/]+={0,2})$/.exec(said)?.[1] ?? ''
  const signature = Buffer.from(encoded, 'base64')
  if (signature.length >= signatureBytes.least && signature.length <= signatureBytes.most) return signature
  throw refused('did not answer with a signature by an RSA key: its key must be of the type rsa-2048 or larger')
}

function unavailable(what: string, wait?: number): AppError {
  return new AppError('unavailable', `the signer of the GitHub App ${what}`, { retryAfterSeconds: wait ?? 5 })
}

function refused(what: string): AppError {
  return new AppError('invalid_configuration', `the signer of the GitHub App ${what}`, { reason: signerRefused })
}
