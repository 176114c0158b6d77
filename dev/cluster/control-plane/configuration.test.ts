// The API server's configuration files for authentication, authorization and audit, and reading kubeconfigs.
// The rendered text is parsed again.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { authorizationConfiguration } from '../../../src/authorizer/api-server-file.ts'
import { admissionConfiguration, webhookKubeconfig } from './admission-config.ts'
import { type Audited, auditPolicy } from './audit-policy.ts'
import { authenticationConfiguration } from './authentication-config.ts'
import { authorizationWith, authorizerKubeconfig, plainAuthorization } from './authorization-config.ts'
import { readKubeconfig } from './kubeconfig.ts'
import { apiServerProgram } from './programs.ts'

describe('authorization', () => {
  type Authorizer = { readonly type: string; readonly webhook?: Readonly<Record<string, unknown>> }
  const authorizers = (text: string): readonly Authorizer[] => parse(text).authorizers
  const types = (text: string): readonly string[] => authorizers(text).map(({ type }) => type)
  const shipped = () => readFile(join(import.meta.dirname, '../../../deploy/authorizer/api-server.yaml'), 'utf8')

  test('is Node, then RBAC', () => {
    expect(types(plainAuthorization())).toEqual(['Node', 'RBAC'])
  })

  test('the API server goes without a layer only where that is asked for', () => {
    const audited: Audited = 'everybody'
    const ports = { apiServer: 1, etcdClient: 2, etcdPeer: 3, controllerManager: 4 }
    const addresses = {
      bindAddress: '127.0.0.1',
      advertiseAddress: '127.0.0.1',
      serviceCidr: 'x',
      podCidr: 'x',
      clusterDomain: 'x',
    }
    const pair = { certificate: 'c', key: 'k' }
    const certificates = new Proxy(
      { serviceAccount: { publicKey: 'p', privateKey: 'k' } },
      { get: (of, name) => Reflect.get(of, name) ?? pair },
    )
    const argumentsOf = (more: object): readonly string[] =>
      apiServerProgram('kube-apiserver', { folder: '/x', ports, audited, ...addresses, ...more }, certificates as never).args
    const off = '--disable-admission-plugins=PodSecurity'
    expect(argumentsOf({})).not.toContain(off)
    expect(argumentsOf({ without: ['authorizer'] })).not.toContain(off)
    expect(argumentsOf({ without: ['pod-security'] })).toContain(off)
  })

  test('what is shipped asks the authorizer before RBAC, keeps no answer, and goes on without one', async () => {
    const text = await shipped()
    expect(parse(text)).toEqual(authorizationConfiguration)
    expect(types(text)).toEqual(['Node', 'Webhook', 'RBAC'])
    expect(authorizers(text)[1]?.webhook).toMatchObject({
      failurePolicy: 'NoOpinion',
      cacheAuthorizedRequests: false,
      cacheUnauthorizedRequests: false,
      timeout: '3s',
    })
  })

  test('no condition depends on a name: a list without one returns every Secret', async () => {
    const [, asked] = authorizers(await shipped())
    expect(JSON.stringify(asked?.webhook?.['matchConditions'])).not.toContain('resourceAttributes.name ')
  })

  test('the local cluster has what is shipped, another place of the kubeconfig, and users about whom it does not ask', async () => {
    const text = await shipped()
    const [, webhook] = authorizers(authorizationWith(text, '/w', ['a', 'b']))
    const original = authorizationConfiguration.authorizers[1].webhook
    expect(webhook?.webhook).toEqual({
      ...original,
      connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: '/w' },
      matchConditions: [...original.matchConditions, { expression: "!(request.user in ['a', 'b'])" }],
    })
    expect(types(authorizationWith(text, '/w', []))).toEqual(types(text))
  })

  test('the API server calls it as the guide says', async () => {
    const guide = await readFile(join(import.meta.dirname, '../../../docs/guide/authorizer.md'), 'utf8')
    const [, yaml = ''] = /```yaml\n(apiVersion: v1\nkind: Config[\s\S]*?)```/.exec(guide) ?? []
    const folder = '/etc/kubernetes/authorizer'
    const access = { server: 'https://10.96.0.12', serverName: 'sekisho-authorizer.sekisho-system.svc', unasked: [] }
    const client = { certificate: `${folder}/apiserver-authorizer.crt`, key: `${folder}/apiserver-authorizer.key` }
    expect(parse(yaml)).toEqual(parse(authorizerKubeconfig(access, `${folder}/ca.crt`, client)))
  })
})

describe('authentication', () => {
  const file = parse(
    authenticationConfiguration({ url: 'https://issuer:8443', certificateAuthority: 'PEM', audience: 'kubernetes' }),
  )

  test('trusts one issuer for one audience', () => {
    expect(file.jwt).toHaveLength(1)
    expect(file.jwt[0].issuer).toEqual({ url: 'https://issuer:8443', audiences: ['kubernetes'], certificateAuthority: 'PEM' })
  })

  test('has the rules of the install guide', async () => {
    const guide = await readFile(join(import.meta.dirname, '../../../docs/guide/install.md'), 'utf8')
    const yaml = /```yaml\n(apiVersion: apiserver\.config\.k8s\.io[\s\S]*?)```/.exec(guide)?.[1] ?? ''
    const [jwt] = parse(yaml).jwt
    for (const field of ['claimValidationRules', 'userValidationRules']) expect(jwt[field]).toEqual(file.jwt[0][field])
  })

  test('allows anonymous requests to health only', () => {
    expect(file.anonymous.conditions.map((item: { path: string }) => item.path)).toEqual(['/livez', '/readyz', '/healthz'])
  })
})

test('the API server shows its certificate to the admission webhook as the guide says', async () => {
  const guide = await readFile(join(import.meta.dirname, '../../../docs/guide/admission.md'), 'utf8')
  const [configuration, kubeconfig] = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml]) => parse(yaml ?? ''))
  const folder = '/etc/kubernetes/admission'
  const files = { certificate: `${folder}/apiserver-admission.crt`, key: `${folder}/apiserver-admission.key` }
  expect(parse(admissionConfiguration(`${folder}/webhooks.kubeconfig`))).toEqual(configuration)
  const hosts = ['sekisho-admission.sekisho-system.svc', 'sekisho-access-records.sekisho-system.svc']
  expect(parse(webhookKubeconfig(hosts, files))).toEqual(kubeconfig)
})

const auditedLevels = (audited: Audited): string[] =>
  parse(auditPolicy(audited)).rules.map((rule: { level: string }) => rule.level)

test('the audit log never contains a body', () => {
  for (const audited of ['everybody', 'platform'] as const)
    expect(new Set(auditedLevels(audited))).toEqual(new Set(['None', 'Metadata']))
})

test('the audit log has what the platform requests first, and what others request where everybody is audited', () => {
  expect([auditedLevels('everybody').at(0), auditedLevels('everybody').at(-1)]).toEqual(['Metadata', 'Metadata'])
  expect(auditedLevels('platform')).toEqual(['Metadata', 'None'])
})

describe('readKubeconfig', () => {
  async function readText(user: unknown) {
    const folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'))
    try {
      const path = join(folder, 'config')
      await writeFile(join(folder, 'ca.pem'), 'CA')
      const clusters = [
        { name: 'other', cluster: { server: 'https://other' } },
        { name: 'c', cluster: { server: 'https://here', 'certificate-authority': 'ca.pem' } },
      ]
      const contexts = [{ name: 'x', context: { cluster: 'c', user: 'u' } }]
      await writeFile(path, stringify({ clusters, contexts, users: [{ name: 'u', user }], 'current-context': 'x' }))
      return await readKubeconfig(path)
    } finally {
      await rm(folder, { recursive: true })
    }
  }

  test('accepts inline certificates and certificate files', async () => {
    const user = {
      'client-certificate-data': Buffer.from('CERT').toString('base64'),
      'client-key-data': Buffer.from('KEY').toString('base64'),
    }
    expect(await readText(user)).toEqual({ server: 'https://here', certificateAuthority: 'CA', certificate: 'CERT', key: 'KEY' })
  })

  test('accepts a token', async () => {
    expect(await readText({ token: 't' })).toEqual({ server: 'https://here', certificateAuthority: 'CA', token: 't' })
  })

  test('refuses a plugin and says what is needed', async () => {
    await expect(readText({ exec: { command: 'x' } })).rejects.toThrow('must have a client certificate or a token')
  })
})
