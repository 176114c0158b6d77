// Tokens for pushing the platform's own images to the local registry. They are signed by the registry's authority itself,
// because the images have to be there before the platform, which issues all other tokens, runs. Development only: nothing else
// signs with that key here.
// Source: https://distribution.github.io/distribution/spec/auth/jwt/
import { randomUUID, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { importPKCS8, SignJWT } from 'jose'
import { AppError } from '../../../src/lib/errors.ts'
import type { Access } from './registry-client.ts'

/** A token for the actions on the repositories. */
export type PushTokens = (access: readonly Access[]) => Promise<string>

type TokenNames = { readonly service: string; readonly issuer: string }

const lifetimeSeconds = 600

/** Reads the authority at the first token, so that images can be built without a cluster. */
export function createPushTokens(files: { readonly certificate: string; readonly key: string }, names: TokenNames): PushTokens {
  const load = async () => {
    const [certificate, key] = await Promise.all([readFile(files.certificate), readFile(files.key, 'utf8')]).catch(
      (cause: unknown) => {
        throw new AppError('unavailable', 'the registry of the cluster has no authority yet: start the cluster (make up) first', {
          cause,
        })
      },
    )
    return { key: await importPKCS8(key, 'ES256'), x5c: [new X509Certificate(certificate).raw.toString('base64')] }
  }
  let loaded: ReturnType<typeof load> | undefined
  return async access => {
    loaded ??= load()
    const { key, x5c } = await loaded
    const seconds = Math.floor(Date.now() / 1000)
    const entries = access.map(({ name, actions }) => ({ type: 'repository', name, actions }))
    return new SignJWT({ access: entries })
      .setProtectedHeader({ alg: 'ES256', typ: 'JWT', x5c })
      .setIssuer(names.issuer)
      .setAudience(names.service)
      .setSubject('image-builder')
      .setIssuedAt(seconds)
      .setNotBefore(seconds - 30)
      .setExpirationTime(seconds + lifetimeSeconds)
      .setJti(randomUUID())
      .sign(key)
  }
}
