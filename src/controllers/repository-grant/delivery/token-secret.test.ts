// What is written into the Secret of a token, and what is to be done about one that is there.
import { describe, expect, test } from 'vitest'
import type { Secret } from '../../../api/builtin/index.ts'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import { endpointsOf } from '../../../github/index.ts'
import { SecretString } from '../../../lib/secret-string.ts'
import type { DeliveredToken } from '../../../services/token-desk/token-desk.ts'
import { desiredTokenSecret, stepOf, writtenAnnotation, writtenIn } from './token-secret.ts'

const now = new Date('2026-01-01T12:00:00Z')
const at = (minutes: number): Date => new Date(now.getTime() + minutes * 60_000)
const token: DeliveredToken = {
  token: new SecretString('ghs_one'),
  expiresAt: at(15),
  renewFrom: at(10),
  repositories: [{ id: 1, fullName: 'acme/shop' }],
  permissions: { contents: 'read' },
  endpoints: endpointsOf({ host: 'github.com' }),
}

const grant = (secret?: object, uid = 'uid-g'): RepositoryGrant =>
  ({
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'RepositoryGrant',
    metadata: { name: 'read-shop', namespace: 'acme', uid },
    spec: { delivery: 'Secret', ...(secret === undefined ? {} : { secret }) },
  }) as unknown as RepositoryGrant

const name = 'ghtok-ci.read-shop'
const secretOf = (of: RepositoryGrant, held?: DeliveredToken): Secret => desiredTokenSecret(of, name, held) as unknown as Secret
const decoded = ({ data = {} }: Secret): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]))

describe('the Secret', () => {
  test('has what git and Flux want', () => {
    const secret = secretOf(grant(), token)
    expect(secret).toMatchObject({
      type: 'kubernetes.io/basic-auth',
      metadata: { name, namespace: 'acme', ownerReferences: [{ kind: 'RepositoryGrant', uid: 'uid-g', controller: true }] },
    })
    expect(decoded(secret)).toEqual({ username: 'x-access-token', password: 'ghs_one', token: 'ghs_one' })
  })

  test.each([
    ['github.com', 'ghcr.io'],
    ['github.example.com', 'containers.github.example.com'],
  ])('has what the kubelet wants, for the container registry of %s alone', (host, registry) => {
    const secret = secretOf(grant({ format: 'DockerConfig' }), { ...token, endpoints: endpointsOf({ host }) })
    const auth = Buffer.from('x-access-token:ghs_one').toString('base64')
    expect(secret.type).toBe('kubernetes.io/dockerconfigjson')
    expect(JSON.parse(decoded(secret)['.dockerconfigjson'] ?? '')).toEqual({
      auths: { [registry]: { username: 'x-access-token', password: 'ghs_one', auth } },
    })
  })

  test('has what Argo CD wants, with its label', () => {
    const secret = secretOf(grant({ format: 'ArgoCDRepository' }), token)
    expect(secret.metadata.labels).toMatchObject({ 'argocd.argoproj.io/secret-type': 'repository' })
    const url = 'https://github.com/acme/shop.git'
    expect(decoded(secret)).toEqual({ type: 'git', url, username: 'x-access-token', password: 'ghs_one' })
  })

  test('names the address that the App says, for Argo CD', () => {
    const endpoints = {
      host: 'github.example.com',
      web: 'https://git.example.com:8443',
      api: 'https://git.example.com:8443/api/v3',
    }
    const secret = secretOf(grant({ format: 'ArgoCDRepository' }), { ...token, endpoints })
    expect(decoded(secret)['url']).toBe('https://git.example.com:8443/acme/shop.git')
  })

  test.each(['BasicAuth', 'DockerConfig', 'ArgoCDRepository'])('has no credential before there is a token: %s', format => {
    const text = JSON.stringify(decoded(secretOf(grant({ format }))))
    expect(text).not.toContain('password')
    expect(text).not.toContain('ghs_')
  })

  test('says what was written without the token', () => {
    const { annotations = {} } = secretOf(grant(), token).metadata
    expect(annotations[writtenAnnotation]).toContain('uid-g')
    expect(JSON.stringify(annotations)).not.toContain('ghs_')
  })
})

describe('what is to be done', () => {
  const own = secretOf(grant(), token)
  const meta = (change: object): Secret => ({ ...own, metadata: { ...own.metadata, ...change } })
  const { annotations: _, ...unsaid } = own.metadata
  const cases: readonly (readonly [string, Secret | undefined, boolean, Date, string])[] = [
    ['there is none', undefined, false, now, 'create'],
    ['it has the token', own, true, now, 'keep'],
    ['its token ends soon', own, true, at(10), 'renew'],
    ['its token was revoked', own, false, now, 'replace'],
    ['it waits for a token', secretOf(grant()), false, now, 'fill'],
    ['somebody made it', { ...own, metadata: { name, namespace: 'acme' } }, false, now, 'foreign'],
    ['another object owns it', secretOf(grant(undefined, 'uid-other'), token), true, now, 'foreign'],
    [
      'somebody made it with the annotation of another grant',
      meta({ ownerReferences: [], annotations: { [writtenAnnotation]: '{"grant":"uid-x"}' } }),
      true,
      now,
      'foreign',
    ],
    ['its owner was taken from it', meta({ ownerReferences: [] }), true, now, 'replace'],
    ['a value was changed', { ...own, data: { ...own.data, password: 'eA==' } }, true, now, 'replace'],
    ['a value was added', { ...own, data: { ...own.data, more: 'eA==' } }, true, now, 'replace'],
    ['its type was changed', { ...own, type: 'Opaque' }, true, now, 'replace'],
    ['what was written is not said', { ...own, metadata: unsaid }, true, now, 'fill'],
  ]
  test.each(cases)('%s', (...[, secret, isLive, when, step]) => {
    expect(stepOf({ grant: grant(), secret, isLive, now: when })).toBe(step)
  })

  test('a Secret of Argo CD without its label is made again', () => {
    const argo = grant({ format: 'ArgoCDRepository' })
    const secret = secretOf(argo, token)
    expect(writtenIn(secret, argo)).toBeDefined()
    expect(writtenIn({ ...secret, metadata: { ...secret.metadata, labels: {} } }, argo)).toBeUndefined()
  })
})
