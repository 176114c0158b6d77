// Host names of a tenant's own on real pods and the real ingress: a certificate in a Secret that a developer made, by https
// with the host in the handshake; a www host that the ingress redirects; and another tenant that may do neither with these
// names. A platform admin approves the names, because the platform's DNS servers do not know them.
import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { neighbourNamespace, tenantNamespace } from '../../dev/demo/context.ts'
import { joinNeighbour } from '../../dev/demo/scenario/neighbour.ts'
import { mustRun } from '../../dev/demo/tools.ts'
import { issueCertificate, makeCertificateAuthority } from '../../src/identity/certificate-authority.ts'
import type { CertifiedKey } from '../../src/identity/certified-key.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { applicationManifest } from './manifests.ts'
import { find, forgetObjects, list, read, readyOf, untilGone, untilReason } from './objects.ts'
import { openPlatform, type Platform } from './platform.ts'

const name = 'e2e-tls'
const reference = `application/${name}`
const host = 'e2e-tls.example.org'
const www = `www.${host}`
/** A host of acme whose name without `www.` is nobody's. */
const alone = 'www.e2e-alone.example.org'
const certificate = 'e2e-tls-certificate'
const plainName = 'e2e-www'
const plainHost = `${plainName}.${tenantNamespace}.localhost`
const settings = readClusterSettings()

/** Answers with the path that was asked for and all hosts that it was ever asked for. */
const server = `
const hosts = new Set()
const server = require('node:http').createServer((request, answer) => {
  hosts.add(String(request.headers.host).split(':')[0])
  answer.end(JSON.stringify({ path: request.url, hosts: [...hosts] }))
}).listen(process.env.PORT)
process.on('SIGTERM', () => server.close(() => process.exit(0)))`
const web = { name: 'web', port: 3000, memory: '64Mi', command: ['node', '-e', server] }

let platform: Platform
let authority: CertifiedKey
let image = ''

type Scheme = 'http' | 'https'
type Answer = { readonly status: number; readonly location: string | undefined; readonly text: string }

const portOf = (scheme: Scheme): number => (scheme === 'https' ? settings.ingressTlsPort : settings.ingressPort)
const origin = (scheme: Scheme, of: string): string => `${scheme}://${of}:${portOf(scheme)}`

/**
 * As a browser that trusts the authority of this test and no other, and whose resolver knows the host. Rejects when the
 * certificate does not fit.
 */
function ask(scheme: Scheme, of: string, path = '/', method = 'GET'): Promise<Answer> {
  const port = portOf(scheme)
  const own = { host: '127.0.0.1', port, path, method, headers: { host: `${of}:${port}` }, agent: false, timeout: 5000 } as const
  const options = { ...own, servername: of, ca: authority.certificatePem }
  return new Promise((resolve, reject) => {
    const call = (scheme === 'https' ? secureRequest : plainRequest)(options, answer => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (part: string) => {
        text += part
      })
      answer.once('error', reject)
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, location: answer.headers.location, text }))
    })
    call.once('timeout', () => call.destroy(new Error('no answer within 5 s')))
    call.once('error', reject)
    call.end()
  })
}

/** What the process says about the requests that it got. */
async function served(
  scheme: Scheme,
  of: string,
  path: string,
): Promise<{ readonly path: string; readonly hosts: readonly string[] }> {
  return waitUntil(
    `${origin(scheme, of)}${path} answers 200`,
    async () => {
      const answer = await ask(scheme, of, path)
      if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text.slice(0, 200)}`)
      return JSON.parse(answer.text) as { readonly path: string; readonly hosts: readonly string[] }
    },
    { timeoutMilliseconds: limits.rollout },
  )
}

/** As the developer of docs/guide/processes.md does it. The key stays in the folder of the person. */
async function storeCertificate(dnsNames: readonly string[]): Promise<void> {
  const now = new Date()
  const leaf = await issueCertificate({ authority, commonName: host, dnsNames, usage: 'server', now, lifetimeDays: 1 })
  const { dave } = platform.world.people
  const [cert, key] = ['crt', 'key'].map(ending => join(dave.home, `${certificate}.${ending}`)) as [string, string]
  try {
    await writeFile(cert, leaf.certificatePem)
    await writeFile(key, leaf.privateKeyPem.reveal(), { mode: 0o600 })
    const args = ['create', 'secret', 'tls', certificate, `--cert=${cert}`, `--key=${key}`, '-n', tenantNamespace]
    await mustRun(dave, platform.world.tools.kubectl, args)
  } finally {
    for (const path of [cert, key]) await rm(path, { force: true })
  }
}

async function approve(claimed: string): Promise<void> {
  const { uid } = (await read(platform.admin, `tenant/${tenantNamespace}`)).metadata
  await platform.admin.call('POST', '/apis/tenancy.sekisho.dev/v1alpha1/domainclaims', {
    apiVersion: 'tenancy.sekisho.dev/v1alpha1',
    kind: 'DomainClaim',
    metadata: { name: claimed },
    spec: { host: claimed, tenant: { name: tenantNamespace, uid }, proof: 'Approval' },
  })
}

async function remove(): Promise<void> {
  await forgetObjects(platform.admin, [reference], neighbourNamespace)
  await untilGone(platform.admin, [reference], neighbourNamespace)
  await platform.remove([reference, `application/${plainName}`])
  await platform.remove([`secret/${certificate}`, ...[host, www, alone].map(claimed => `domainclaim/${claimed}`)])
}

beforeAll(async () => {
  platform = await openPlatform(['dave'])
  // Another file ends globex.
  await joinNeighbour(platform.world)
  authority = await makeCertificateAuthority({ commonName: `e2e ${randomUUID()}`, now: new Date(), lifetimeDays: 1 })
  image = String((await read(platform.admin, 'application/shop')).status?.['image'])
})

afterAll(async () => {
  await remove()
  await platform.admin.close()
})

test('a certificate of the tenant’s own is served for its hosts, and www is redirected for good without a request to the application', async () => {
  // What an earlier run or attempt has left.
  await remove()
  await storeCertificate([host, www, alone])
  const spec = { image, processes: [web], domains: [host, alone], redirects: [{ from: www, to: host }] }
  await platform.apply('dave', [applicationManifest(name, { ...spec, tls: { secretName: certificate } })])
  const { message } = await untilReason(platform.admin, reference, 'DomainNotProven')
  for (const claimed of [host, alone, www]) expect(message).toContain(`_sekisho-challenge.${claimed} TXT`)
  for (const claimed of [host, alone, www]) await approve(claimed)
  await untilReason(platform.admin, reference, 'Available')
  const { status } = await read(platform.admin, reference)
  expect(status?.conditions).toContainEqual(expect.objectContaining({ type: 'Redirecting', status: 'True' }))
  expect(status?.['url']).toBe(origin('https', host))
  expect(await served('https', host, '/a?b=c')).toMatchObject({ path: '/a?b=c' })
  await served('http', host, '/')

  const path = '/a%20b/?to=www.x&c=1'
  for (const scheme of ['http', 'https'] as const) {
    const location = `${origin(scheme, host)}${path}`
    expect(await ask(scheme, www, path)).toMatchObject({ status: 301, location })
    // The method stays, too.
    expect(await ask(scheme, www, path, 'POST')).toMatchObject({ status: 308, location })
  }
  // The kubelet asks by the address of the pod.
  const { hosts } = await served('https', host, '/')
  expect(hosts.filter(seen => seen.endsWith('.example.org'))).toEqual([host])
})

test('another tenant can neither redirect from a host of this one nor to it', async () => {
  const elsewhere = `registry.example.org/none@sha256:${'1'.repeat(64)}`
  const inGlobex = (spec: object) => ({
    ...applicationManifest(name, { image: elsewhere, processes: [web], ...spec }),
    metadata: { name, namespace: neighbourNamespace },
  })
  const refused = async (spec: object, words: string): Promise<void> => {
    await mustRun(platform.world.people.gary, platform.world.tools.kubectl, ['apply', '-n', neighbourNamespace, '-f', '-'], {
      input: JSON.stringify(inGlobex(spec)),
    })
    await waitUntil(
      `the refusal of globex: ${words}`,
      async () => {
        const ready = readyOf(await find(platform.admin, reference, neighbourNamespace))
        if (ready?.reason === 'DomainTaken' && ready.message.includes(words)) return true
        throw new Error(`${ready?.reason}: ${ready?.message}`)
      },
      { timeoutMilliseconds: limits.rollout },
    )
  }
  const free = alone.slice('www.'.length)
  await refused({ domains: [free], redirects: [{ from: alone, to: free }] }, `spec.redirects: ${alone} belongs to another tenant`)
  await refused({ domains: [host], redirects: [{ from: www, to: host }] }, `spec.domains: ${host} belongs to another tenant`)
  const owned = (await list(platform.admin, 'ingress', '', neighbourNamespace)).filter(({ metadata }) =>
    metadata.name.startsWith(name),
  )
  expect(owned).toEqual([])
  expect(await ask('https', www)).toMatchObject({ status: 301, location: `${origin('https', host)}/` })
  expect(await served('https', alone, '/mine')).toMatchObject({ path: '/mine' })
})

test('`sekisho why` walks from a host that is redirected to the answer of the ingress', async () => {
  const from = `www.${plainHost}`
  const spec = { image, processes: [web], domains: [plainHost], redirects: [{ from, to: plainHost }] }
  await platform.apply('dave', [applicationManifest(plainName, spec)])
  await untilReason(platform.admin, `application/${plainName}`, 'Available')
  await served('http', plainHost, '/')
  const answer = await platform.sekisho('dave', ['why', `domain/${from}`, '-n', tenantNamespace])
  expect(answer.output).toContain(`Application ${plainName} redirects it to ${plainHost}`)
  expect(answer.output).toMatch(/✓ redirect +GET http:\/\/www\.\S+ answers 301 and leads to http:\/\//)
  expect(answer).toMatchObject({ code: 0 })
})
