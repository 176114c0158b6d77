// What the API server itself accepts of an issuer that signs anything: with the authentication file of the development cluster,
// whose rules are those of the install guide. The issuer here is one that was taken over: its keys are genuine, its claims are
// not.
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { authenticationConfiguration } from '../../dev/cluster/control-plane/authentication-config.ts'
import { readKubeconfig } from '../../dev/cluster/control-plane/kubeconfig.ts'
import { readClusterSettings, testClusterFolder } from '../../dev/cluster/settings.ts'
import { groups, loginExtra } from '../../src/api/names.ts'
import { issueCertificate, makeCertificateAuthority } from '../../src/identity/certificate-authority.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { testKubeconfig } from '../fixtures/harness.ts'

const settings = readClusterSettings()
const file = join(testClusterFolder(settings), 'config/authentication.yaml')
const keys = await generateKeyPair('ES256', { extractable: true })
let former = ''
let issuer: Server
let issuerUrl = ''
let agent: Agent
let apiServer = ''

async function startIssuer(): Promise<string> {
  const now = new Date()
  const authority = await makeCertificateAuthority({ commonName: 'issuer-test', now, lifetimeDays: 1 })
  const leaf = await issueCertificate({
    authority,
    commonName: 'issuer',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    usage: 'server',
    now,
    lifetimeDays: 1,
  })
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }
  issuer = createServer({ cert: leaf.certificatePem, key: leaf.privateKeyPem.reveal() }, (asked, answer) => {
    const document = asked.url === '/jwks' ? { keys: [jwk] } : { issuer: issuerUrl, jwks_uri: `${issuerUrl}/jwks` }
    answer.setHeader('content-type', 'application/json').end(JSON.stringify(document))
  })
  await new Promise<void>(resolve => issuer.listen(0, '127.0.0.1', resolve))
  issuerUrl = `https://127.0.0.1:${(issuer.address() as AddressInfo).port}`
  return authority.certificatePem
}

function signed(claims: JWTPayload): Promise<string> {
  return new SignJWT({ iss: issuerUrl, aud: 'kubernetes', ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .setIssuedAt()
    .setExpirationTime('10m')
    .sign(keys.privateKey)
}

type UserInfo = {
  readonly username: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** Who the API server takes the bearer for; undefined when it refuses the token. */
async function userOf(claims: JWTPayload): Promise<UserInfo | undefined> {
  const answer = await request(`${apiServer}/apis/authentication.k8s.io/v1/selfsubjectreviews`, {
    method: 'POST',
    dispatcher: agent,
    headers: { authorization: `Bearer ${await signed(claims)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }),
  })
  const body = (await answer.body.json()) as { status?: { userInfo?: UserInfo } }
  if (answer.statusCode === 401) return undefined
  expect(answer.statusCode).toBe(201)
  return body.status?.userInfo
}

const sub = 'github|github.localhost|42'
const owners = groups.owners('github.localhost', 7)

// The file of a cluster that was given by SEKISHO_TEST_KUBECONFIG is not ours to change.
describe.runIf(settings.givenTestKubeconfig === undefined)('the API server', () => {
  beforeAll(async () => {
    const access = await readKubeconfig(testKubeconfig())
    apiServer = access.server
    agent = new Agent({ connect: { ...(access.certificateAuthority === undefined ? {} : { ca: access.certificateAuthority }) } })
    former = await readFile(file, 'utf8')
    const certificateAuthority = await startIssuer()
    await writeFile(file, authenticationConfiguration({ url: issuerUrl, audience: 'kubernetes', certificateAuthority }))
    await waitUntil('the API server trusts the issuer', () => userOf({ sub }), { timeoutMilliseconds: limits.build })
  })

  afterAll(async () => {
    if (former !== '') await writeFile(file, former)
    await agent?.close()
    issuer?.closeAllConnections()
    issuer?.close()
  })

  test('people and groups of our form are accepted', async () => {
    expect(await userOf({ sub, groups: [owners] })).toMatchObject({ username: sub, groups: [owners, 'system:authenticated'] })
    expect(await userOf({ sub, groups: [], typ: 'id' })).toMatchObject({ groups: ['system:authenticated'] })
    const many = Array.from({ length: 200 }, (_, index) => groups.team('github.localhost', 7, index + 1))
    expect((await userOf({ sub, groups: many }))?.groups).toHaveLength(201)
  })

  test('the login is where admission reads it, and is missing without the claim', async () => {
    expect((await userOf({ sub, login: 'mia' }))?.extra?.[loginExtra]).toEqual(['mia'])
    expect((await userOf({ sub }))?.extra ?? {}).not.toHaveProperty([loginExtra])
  })

  test.each([
    'system:masters',
    'sekisho:platform-admins',
    'cluster-admins',
    'acme:admins',
    '',
    'xgithub|github.localhost|org|7|owners',
  ])('no signature makes %j a group', async group => {
    expect(await userOf({ sub, groups: [owners, group] })).toBeUndefined()
  })

  test.each([
    'system:admin',
    'system:serviceaccount:sekisho-system:sekisho',
    'admin',
    'github|',
    'github|github.localhost|olivia',
    'github|github.localhost|0',
    'github|github.localhost|42|x',
    'github|github.localhost|42\n',
    'xgithub|github.localhost|42',
    `github|github.localhost|${'9'.repeat(16)}`,
  ])('no signature makes %j a user', async subject => {
    expect(await userOf({ sub: subject })).toBeUndefined()
  })

  test.each([{ typ: 'logout' }, { aud: 'other' }, { iss: 'https://127.0.0.1:1' }])('a token with %j is refused', async claims => {
    expect(await userOf({ sub, ...claims })).toBeUndefined()
  })
})
