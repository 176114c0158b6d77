// Domains on a real API server with a real DNS server: the first tenant that proves a host has it, whoever else names it; two
// that claim it at the same time; approval, release, loss, reserved hosts; and that each of these is noticed without waiting.
// Two controllers, each for the namespace of one tenant, know of each other's claims by the API server alone.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Application, application } from '../../src/api/apps/application.ts'
import { type Ingress, ingresses } from '../../src/api/builtin/index.ts'
import { domainClaim } from '../../src/api/tenancy/domain-claim.ts'
import { type Tenant, tenant } from '../../src/api/tenancy/tenant.ts'
import { dnsLookUp } from '../../src/controllers/application/domains/dns-challenge.ts'
import { createDomainProofs } from '../../src/controllers/application/domains/domain-proofs.ts'
import type { RedirectAnnotations } from '../../src/controllers/application/domains/redirects.ts'
import { createDomainClaimController } from '../../src/controllers/domain-claim/index.ts'
import { isKubeError } from '../../src/kube/client/errors.ts'
import { done } from '../../src/kube/controller/controller.ts'
import { limits, timeLimit } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { makeChart, startApplicationController, withCharts } from '../fixtures/application-controller.ts'
import { type Fixture, gone, readyReason, withFixture } from '../fixtures/application-fixture.ts'
import { type DnsServer, startDnsServer } from '../fixtures/dns-server.ts'
import { createQuickClock } from '../fixtures/quick-clock.ts'

const fieldManager = 'test'
const image = `registry.example.com/acme/shop@sha256:${'1'.repeat(64)}`
/** A proof is looked up again after a minute; how long that is, is not tested. */
const clock = createQuickClock(5)
const reservedHosts = ['sekisho.example.com']
/** As a platform admin would configure two ingress controllers. */
const redirectAnnotations = [
  ['traefik.ingress.kubernetes.io/router.middlewares', 'www@file'],
  ['example.com/redirect-to', 'https://{to}'],
] as const

const renderer = withCharts()
let dns: DnsServer
beforeAll(async () => {
  dns = await startDnsServer()
})
afterAll(async () => {
  await dns.close()
})

/** A tenant with its namespace, and the controllers that see this namespace alone. */
type Side = Fixture & { readonly owner: Tenant; readonly record: string; readonly chart: string }

let lastAccount = 7000

async function makeTenant({ client, namespace }: Fixture, id: number): Promise<Tenant> {
  const { apiVersion, kind } = tenant
  const account = { host: 'github.test', id, login: `account-${id}`, type: 'Organization' }
  const metadata = { name: namespace }
  await client.apply(tenant, { apiVersion, kind, metadata, spec: { account, namespace, roles: [] } }, { fieldManager })
  onTestFinished(() => client.delete(tenant, { name: namespace }))
  // As the Tenant controller reports a namespace that can be used.
  const made = await client.applyStatus(tenant, { apiVersion, kind, metadata, status: { namespace } }, { fieldManager })
  if (made === undefined) throw new Error(`Tenant ${namespace} was not created`)
  return made
}

async function side(annotations: RedirectAnnotations = redirectAnnotations): Promise<Side> {
  const fixture = await withFixture()
  const { client, namespace } = fixture
  lastAccount += 1
  const owner = await makeTenant(fixture, lastAccount)
  const chart = await makeChart(fixture, { builtIn: 'web' })
  const proofs = createDomainProofs({ lookUp: dnsLookUp([dns.address]), clock, minMilliseconds: 100 })
  await startApplicationController(fixture, renderer, {
    managerDeps: { clock },
    deps: { reservedHosts, proofs, redirectAnnotations: annotations },
    controllers(controller, parts) {
      const claimController = createDomainClaimController(parts)
      // It sees the Applications of this namespace alone, so it must not judge the claims of other tenants.
      const ofThisTenant: typeof claimController = {
        ...claimController,
        async reconcile(context) {
          const claim = await client.get(domainClaim, context.key)
          return claim?.spec.tenant.name === namespace ? claimController.reconcile(context) : done
        },
      }
      return [controller, ofThisTenant]
    },
  })
  return { ...fixture, owner, record: `sekisho-tenant=github.test/${lastAccount}`, chart }
}

type Redirects = NonNullable<Application['spec']['redirects']>

async function serve(
  { client, namespace, chart }: Side,
  domains: readonly string[],
  { name = 'shop', redirects }: { readonly name?: string; readonly redirects?: Redirects } = {},
): Promise<Application> {
  const { apiVersion, kind } = application
  const spec = {
    chart,
    image,
    domains: [...domains],
    ...(redirects ? { redirects } : {}),
    processes: [{ name: 'web', port: 3000, replicas: 0 }],
  }
  return client.apply(application, { apiVersion, kind, metadata: { namespace, name }, spec }, { fieldManager, force: true })
}

const reason = (on: Side, wanted: string, name = 'shop'): Promise<Application> =>
  readyReason(on.client, application, { namespace: on.namespace, name }, wanted)

const messageOf = ({ status }: Application): string => status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? ''

const challengeName = (host: string): string => `_sekisho-challenge.${host}`
/** Without the name of a tenant, so that a message that contains the host does not contain the tenant. */
const newHost = (): string => `www.${randomBytes(6).toString('hex')}.example.org`

function releaseLater({ client }: Side, host: string): void {
  onTestFinished(() => client.delete(domainClaim, { name: host }))
}

test('an unproved domain is refused with the record to add, and served as soon as the record is there', async () => {
  const acme = await side()
  const host = newHost()
  releaseLater(acme, host)
  await serve(acme, [host])
  const refused = await reason(acme, 'DomainNotProven')
  expect(messageOf(refused)).toContain(`${challengeName(host)} TXT "${acme.record}"`)
  expect(await acme.client.get(domainClaim, { name: host })).toBeUndefined()
  dns.set(challengeName(host), acme.record)
  await reason(acme, 'Available')
  const claim = await readyReason(acme.client, domainClaim, { name: host }, 'Held')
  expect(claim.spec).toEqual({ host, tenant: { name: acme.namespace, uid: acme.owner.metadata.uid }, proof: 'DNS' })
  expect(claim.metadata.ownerReferences).toEqual([expect.objectContaining({ kind: 'Tenant', uid: acme.owner.metadata.uid })])
})

test('an older Application of another tenant does not take a domain over, with or without a proof of its own', async () => {
  const [globex, acme] = [await side(), await side()]
  const host = newHost()
  releaseLater(acme, host)
  await serve(globex, [`shop.${globex.namespace}.localhost`])
  await reason(globex, 'Available')
  dns.set(challengeName(host), acme.record)
  await serve(acme, [host])
  await reason(acme, 'Available')
  await serve(globex, [host])
  const refused = await reason(globex, 'DomainTaken')
  expect(messageOf(refused)).toContain(`${host} belongs to another tenant`)
  expect(JSON.stringify(refused.status)).not.toContain(acme.namespace)
  dns.set(challengeName(host), acme.record, globex.record)
  await acme.client.mergePatch(
    application,
    { namespace: acme.namespace, name: 'shop' },
    { metadata: { annotations: { a: 'b' } } },
    { fieldManager },
  )
  await reason(acme, 'Available')
  await reason(globex, 'DomainTaken')
})

test('of two tenants that prove the same domain at the same time exactly one has it', async () => {
  const [globex, acme] = [await side(), await side()]
  const hosts = Array.from({ length: 5 }, newHost)
  for (const host of hosts) {
    releaseLater(acme, host)
    dns.set(challengeName(host), acme.record, globex.record)
  }
  await Promise.all(
    hosts.flatMap((host, n) => [serve(acme, [host], { name: `app${n}` }), serve(globex, [host], { name: `app${n}` })]),
  )
  for (const [n, host] of hosts.entries()) {
    const claim = await readyReason(acme.client, domainClaim, { name: host }, 'Held')
    const [winner, loser] = claim.spec.tenant.name === acme.namespace ? [acme, globex] : [globex, acme]
    await reason(winner, 'Available', `app${n}`)
    await reason(loser, 'DomainTaken', `app${n}`)
    const served = await Promise.all(
      [winner, loser].map(({ client, namespace }) => client.get(ingresses, { namespace, name: `app${n}` })),
    )
    expect(served.map(found => found !== undefined)).toEqual([true, false])
  }
})

test('a domain is released when nobody of the tenant names it, and another tenant is then asked for a proof at once', async () => {
  const [globex, acme] = [await side(), await side()]
  const host = newHost()
  releaseLater(acme, host)
  dns.set(challengeName(host), acme.record)
  await serve(acme, [host])
  await reason(acme, 'Available')
  await serve(globex, [host])
  await reason(globex, 'DomainTaken')
  await serve(acme, [`shop.${acme.namespace}.localhost`])
  await reason(globex, 'DomainNotProven')
  dns.set(challengeName(host), globex.record)
  await reason(globex, 'Available')
})

test('a platform admin’s approval needs no record, stays without an Application, and is tied to the Tenant', async () => {
  const acme = await side()
  const host = newHost()
  releaseLater(acme, host)
  await serve(acme, [host])
  await reason(acme, 'DomainNotProven')
  const { apiVersion, kind } = domainClaim
  const spec = { host, tenant: { name: acme.namespace, uid: acme.owner.metadata.uid ?? '' }, proof: 'Approval' as const }
  await acme.client.create(domainClaim, { apiVersion, kind, metadata: { name: host }, spec }, { fieldManager })
  await reason(acme, 'Available')
  await acme.client.delete(application, { namespace: acme.namespace, name: 'shop' })
  const claim = await readyReason(acme.client, domainClaim, { name: host }, 'Held')
  await waitUntil('the claim belongs to its Tenant', async () => {
    const found = await acme.client.get(domainClaim, { name: host })
    return found?.metadata.ownerReferences?.some(({ uid }) => uid === acme.owner.metadata.uid) || undefined
  })
  expect(claim.metadata.deletionTimestamp).toBeUndefined()
})

test('a domain that an admin gives to another tenant is not served any more for the first', {
  timeout: timeLimit(240_000),
}, async () => {
  const [globex, acme] = [await side(), await side()]
  const host = newHost()
  releaseLater(acme, host)
  dns.set(challengeName(host), acme.record)
  await serve(acme, [host])
  await reason(acme, 'Available')
  dns.set(challengeName(host))
  await acme.client.delete(domainClaim, { name: host })
  const { apiVersion, kind } = domainClaim
  const spec = { host, tenant: { name: globex.namespace, uid: globex.owner.metadata.uid ?? '' }, proof: 'Approval' as const }
  await waitUntil(
    'the host is free',
    async () => {
      try {
        await acme.client.create(domainClaim, { apiVersion, kind, metadata: { name: host }, spec }, { fieldManager })
      } catch (error) {
        if (!isKubeError(error, 409)) throw error
        await acme.client.delete(domainClaim, { name: host })
        return undefined
      }
      return true
    },
    // The first tenant claims it again until its proof is looked up anew.
    { timeoutMilliseconds: limits.build },
  )
  await reason(acme, 'DomainTaken')
  await gone(acme.client, ingresses, { namespace: acme.namespace, name: 'shop' })
})

test('hosts of the platform and of Ingresses that no Application made are refused, and free again without them', async () => {
  const acme = await side()
  const { client, namespace } = acme
  for (const host of ['sekisho.example.com', 'a.sekisho.example.com', 'example.com']) {
    await serve(acme, [host])
    expect(messageOf(await reason(acme, 'DomainReserved'))).toContain(host)
  }
  const host = newHost()
  releaseLater(acme, host)
  dns.set(challengeName(host), acme.record)
  const backend = { service: { name: 's', port: { number: 80 } } }
  const { apiVersion, kind } = ingresses
  const rules = [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }]
  await client.apply(ingresses, { apiVersion, kind, metadata: { namespace, name: 'by-hand' }, spec: { rules } }, { fieldManager })
  await serve(acme, [host])
  expect(messageOf(await reason(acme, 'DomainReserved'))).toContain('no Application made')
  await client.delete(ingresses, { namespace, name: 'by-hand' })
  await reason(acme, 'Available')
  await client.apply(ingresses, { apiVersion, kind, metadata: { namespace, name: 'by-hand' }, spec: { rules } }, { fieldManager })
  await reason(acme, 'DomainReserved')
})

/** The Ingress that the controllers made for the redirects of `shop`; undefined without one. */
async function redirecting({ client, namespace }: Side): Promise<Ingress | undefined> {
  const found = await client.list(ingresses, { namespace, labelSelector: 'sekisho.dev/redirect=true' })
  expect(found.length).toBeLessThan(2)
  return found[0]
}

const leads = (from: string, to: string): { readonly redirects: Redirects } => ({ redirects: [{ from, to }] })

test('a host that is redirected is proved and claimed like the other, and has an Ingress of its own with the administrator’s annotations', async () => {
  const acme = await side()
  const www = newHost()
  const host = www.slice('www.'.length)
  for (const each of [www, host]) releaseLater(acme, each)
  dns.set(challengeName(host), acme.record)
  await serve(acme, [host], leads(www, host))
  const refused = await reason(acme, 'DomainNotProven')
  expect(messageOf(refused)).toContain(`spec.redirects: prove that ${www} belongs to you by the DNS record ${challengeName(www)}`)
  expect(await redirecting(acme)).toBeUndefined()
  dns.set(challengeName(www), acme.record)
  const served = await reason(acme, 'Available')
  expect(served.status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'Redirecting', status: 'True', message: `${www} leads to ${host}` }),
  )
  const claim = await readyReason(acme.client, domainClaim, { name: www }, 'Held')
  expect(claim.spec.tenant.name).toBe(acme.namespace)
  const ingress = await redirecting(acme)
  expect(ingress?.metadata.annotations).toMatchObject({
    'traefik.ingress.kubernetes.io/router.middlewares': 'www@file',
    'example.com/redirect-to': `https://${host}`,
  })
  expect(ingress?.spec?.rules?.map(rule => rule.host)).toEqual([www])
  const own = await acme.client.get(ingresses, { namespace: acme.namespace, name: 'shop' })
  expect(own?.spec?.rules?.map(rule => rule.host)).toEqual([host])
  expect(JSON.stringify(own?.metadata.annotations)).not.toContain('middlewares')
  await serve(acme, [host])
  await waitUntil('the Ingress and the claim of the redirect are gone', async () => {
    const left = [await redirecting(acme), await acme.client.get(domainClaim, { name: www })]
    return left.every(found => found === undefined)
  })
  expect(await acme.client.get(domainClaim, { name: host })).toBeDefined()
})

test('nobody redirects from or to a host of another tenant', async () => {
  const [globex, acme] = [await side(), await side()]
  const www = newHost()
  const host = www.slice('www.'.length)
  for (const each of [www, host]) {
    releaseLater(acme, each)
    dns.set(challengeName(each), acme.record)
  }
  await serve(acme, [host], leads(www, host))
  await reason(acme, 'Available')
  for (const each of [www, host]) dns.set(challengeName(each), acme.record, globex.record)
  const mine = `shop.${globex.namespace}.localhost`
  await serve(globex, [mine], leads(www, mine))
  const from = await reason(globex, 'DomainTaken')
  expect(messageOf(from)).toContain(`spec.redirects: ${www} belongs to another tenant`)
  expect(JSON.stringify(from.status)).not.toContain(acme.namespace)
  await serve(globex, [host], leads(`www.${mine}`, host))
  expect(messageOf(await reason(globex, 'DomainTaken'))).toContain(`spec.domains: ${host} belongs to another tenant`)
  expect(await globex.client.list(ingresses, { namespace: globex.namespace })).toEqual([])
  await serve(globex, [mine], leads(`www.${mine}`, mine))
  await reason(globex, 'Available')
  expect((await redirecting(globex))?.metadata.annotations).toMatchObject({ 'example.com/redirect-to': `https://${mine}` })
})

test('where no redirects are configured the Application says so and runs, and its redirect needs no proof', async () => {
  const acme = await side([])
  const host = `shop.${acme.namespace}.localhost`
  const www = newHost()
  await serve(acme, [host], leads(www, host))
  const { status } = await reason(acme, 'Available')
  const condition = status?.conditions?.find(({ type }) => type === 'Redirecting')
  expect(condition).toMatchObject({ status: 'False', reason: 'RedirectNotSupported' })
  expect(condition?.message).toContain(`spec.redirects: ${www} is not redirected`)
  expect(condition?.message).toContain('a platform admin sets SEKISHO_REDIRECT_ANNOTATIONS')
  expect(await redirecting(acme)).toBeUndefined()
  expect(await acme.client.get(domainClaim, { name: www })).toBeUndefined()
})

test.each(['Shop.example.org', 'shop.example.org.', '*.example.org', 'localhost', '192.0.2.1', `${'a'.repeat(64)}.example.org`])(
  'the API server refuses the domain %s',
  async host => {
    const fixture = await withFixture()
    const { client, namespace } = fixture
    const { apiVersion, kind } = application
    const spec = { domains: [host], processes: [{ name: 'web', port: 3000 }] }
    const made = client.apply(application, { apiVersion, kind, metadata: { namespace, name: 'shop' }, spec }, { fieldManager })
    await expect(made).rejects.toSatisfy(error => isKubeError(error, 422))
  },
)

test('a claim has the name of its host, and never changes', async () => {
  const acme = await side()
  const host = newHost()
  releaseLater(acme, host)
  const { apiVersion, kind } = domainClaim
  const spec = { host, tenant: { name: acme.namespace, uid: acme.owner.metadata.uid ?? '' }, proof: 'Approval' as const }
  const other = acme.client.create(domainClaim, { apiVersion, kind, metadata: { name: `x.${host}` }, spec }, { fieldManager })
  await expect(other).rejects.toSatisfy(error => isKubeError(error, 422))
  await acme.client.create(domainClaim, { apiVersion, kind, metadata: { name: host }, spec }, { fieldManager })
  const changed = acme.client.mergePatch(domainClaim, { name: host }, { spec: { tenant: { name: 'globex' } } }, { fieldManager })
  await expect(changed).rejects.toSatisfy(error => isKubeError(error, 422))
})
