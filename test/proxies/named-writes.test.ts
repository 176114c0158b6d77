// What the crash sweep adds to the proxy: a process sees the objects of its environment alone, and is cut off at a write
// that has a name.
import { Agent, request as send } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { startChaosProxy } from './chaos-proxy/chaos-proxy.ts'
import { requestFacts } from './chaos-proxy/request-facts.ts'
import { startSmallUpstream } from './chaos-proxy/small-upstream.ts'
import { openUpstream } from './chaos-proxy/upstream.ts'
import { createCrashSwitch } from './crash-switch.ts'
import { gitHubWrite, kubernetesWrite, serverStatement, storeWrite, viewOf } from './named-writes.ts'

const facts = (method: string, url: string) => requestFacts({ method, url })

test.each([
  ['PATCH', '/apis/tenancy.sekisho.dev/v1alpha1/tenants/sw-1/status', 'kubernetes: patch tenants/status w'],
  ['POST', '/api/v1/namespaces/sw-1-build/secrets', 'kubernetes: create secrets in build'],
  ['DELETE', '/apis/apps/v1/namespaces/sw-1/deployments/web-0123456789ab', 'kubernetes: delete deployments web-#'],
  ['POST', '/api/v1/namespaces/sw-1/events', 'kubernetes: create events'],
  ['POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', undefined],
  ['GET', '/api/v1/namespaces/sw-1/secrets/a', undefined],
])('the API server gets %s %s', (method, url, name) => {
  expect(kubernetesWrite('sw-1')(facts(method, url))).toBe(name)
})

test.each([
  ['POST', '/api/v3/app/installations/12/access_tokens', 'github: POST /app/installations/#/access_tokens'],
  ['POST', '/acme/shop.git/git-upload-pack', undefined],
  ['GET', '/api/v3/repositories/1', undefined],
])('GitHub gets %s %s', (method, url, name) => {
  expect(gitHubWrite(facts(method, url))).toBe(name)
})

const id = 'abcdefghijklmnopqrstuvwxy2'

test.each([
  [`CREATE ROLE "o_s${id}" NOLOGIN`, 'CREATE ROLE o_s# NOLOGIN'],
  [`GRANT "o_s${id}" TO "t_s${id}_0123456789ab"`, 'GRANT o_s# TO t_s#'],
  [`ALTER ROLE "l_${id}_a" LOGIN\n  CONNECTION LIMIT 5 PASSWORD 'SCRAM-SHA-256$x'`, 'ALTER ROLE l_#_a LOGIN CONNECTION LIMIT 5'],
  [' SELECT pg_terminate_backend(pid) FROM pg_stat_activity', 'end sessions'],
  ['SELECT FROM pg_roles', undefined],
  ['BEGIN', undefined],
])('a server of tenants gets %s', (sql, name) => {
  expect(serverStatement(sql)).toBe(name)
})

test.each([
  ['PUT', `/b${id}?cors`, '', 'store: PUT /b#?cors'],
  ['PUT', `/b${id}/proof-0123456789abcdef-written?x-id=PutObject`, '', 'store: PUT /b#/proof-#-written'],
  ['POST', '/', `Action=CreateUser&UserName=u-${id}-a`, 'store: CreateUser u-#-a'],
  ['POST', '/', `Action=ListAccessKeys&UserName=u-${id}-a`, undefined],
  ['HEAD', `/b${id}`, '', undefined],
])('a store of buckets gets %s %s %s', (method, url, body, name) => {
  expect(storeWrite({ method }, { url, body: Buffer.from(body) })).toBe(name)
})

test('lists and watches are narrowed to the only namespace, and show what belongs to the environment', () => {
  const { pathOf, shows } = viewOf({ prefix: 'sw-1', namespace: 'sw-1' })
  expect(pathOf(facts('GET', '/api/v1/configmaps'))).toBe('/api/v1/namespaces/sw-1/configmaps')
  expect(pathOf(facts('GET', '/api/v1/namespaces'))).toBe('/api/v1/namespaces')
  expect(pathOf(facts('GET', '/api/v1/namespaces/other/configmaps'))).toBe('/api/v1/namespaces/other/configmaps')
  expect(pathOf(facts('POST', '/apis/apps/v1/deployments'))).toBe('/apis/apps/v1/deployments')
  const seen = [
    { name: 'a', namespace: 'sw-1-build' },
    { name: 'a', namespace: 'sw-2' },
    { name: 'sw-1-key', namespace: 'sekisho-system' },
    { name: 'sw-1-builder', namespace: undefined },
    { name: 'sw-2', namespace: undefined },
  ].map(shows)
  expect(seen).toEqual([true, false, true, true, false])
})

test.each(['before', 'after'] as const)('at the chosen write the process is cut off, %s the server made it', async when => {
  const small = await startSmallUpstream()
  const crash = createCrashSwitch()
  const proxy = await startChaosProxy(openUpstream(small.upstream.server.href), { crash, writeOf: gitHubWrite })
  const agent = new Agent()
  onTestFinished(async () => {
    await agent.destroy()
    await proxy.close()
    await small.close()
  })
  const call = async (method: 'GET' | 'POST') => {
    const answer = await send(new URL('/api/v3/app', proxy.url), { dispatcher: agent, method, headers: { authorization: 'own' } })
    return (await answer.body.json()) as { readonly authorization: string }
  }
  crash.arm({ write: 'github: POST /app', occurrence: 2, when }, proxy.cut)
  expect((await call('POST')).authorization).toBe('own')
  await expect(call('POST')).rejects.toThrow()
  expect(crash.fired()).toBe(true)
  await expect(call('GET')).rejects.toThrow()
  expect(small.requests).toHaveLength(when === 'before' ? 1 : 2)
  expect(crash.writes()).toHaveLength(when === 'before' ? 1 : 2)
  crash.revive()
  expect((await call('GET')).authorization).toBe('own')
})
