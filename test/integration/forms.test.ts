// Both forms as kustomize renders them: pods are found by what they contain, each has only the Secrets of its level of trust,
// and the network of the production form is narrower than that of the standalone form.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { catalog } from '../../dev/cluster/binaries/catalog.ts'
import { ensureBinary } from '../../dev/cluster/binaries/ensure-binary.ts'
import { readClusterSettings } from '../../dev/cluster/settings.ts'

type SecretKey = { readonly secretKeyRef?: { readonly name: string } }
type Container = {
  readonly securityContext: Readonly<Record<string, unknown>>
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[]
  readonly env?: readonly { readonly name: string; readonly valueFrom?: SecretKey }[]
  readonly envFrom?: readonly { readonly secretRef?: { readonly name: string } }[]
}
type Volume = {
  readonly name: string
  readonly secret?: { readonly secretName: string; readonly defaultMode: number }
  readonly projected?: { readonly sources: readonly { readonly secret?: { readonly name: string } }[] }
}
type PodTemplate = {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> }
  readonly spec: {
    readonly automountServiceAccountToken?: boolean
    readonly initContainers?: readonly Container[]
    readonly containers: readonly Container[]
    readonly volumes: readonly Volume[]
  }
}
type Rendered = {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: Record<string, unknown> & { readonly template: PodTemplate; readonly selector: Readonly<Record<string, string>> }
}

const settings = readClusterSettings()
const forms: Record<string, readonly Rendered[]> = {}

beforeAll(async () => {
  const kubernetes = await ensureBinary(catalog.kubernetes, {
    settings,
    progress: { note: () => {}, step: (_name, work) => work() },
  })
  for (const form of ['standalone', 'production', 'production/migration', 'authorizer']) {
    const folder = join(settings.repository, 'deploy', form)
    const { stdout } = await promisify(execFile)(kubernetes.path('kubectl'), ['kustomize', folder], {
      maxBuffer: 32 * 1024 * 1024,
    })
    forms[form] = parseAllDocuments(stdout).map(document => document.toJS() as Rendered)
  }
})

function ofKind(form: string, kind: string): readonly Rendered[] {
  return (forms[form] ?? []).filter(object => object.kind === kind)
}

function deployment(form: string, name: string): PodTemplate {
  const found = ofKind(form, 'Deployment').find(({ metadata }) => metadata.name === name)
  if (found === undefined) throw new Error(`${form} has no Deployment ${name}`)
  return found.spec.template
}

/**
 * The Secrets that a pod gets in any way: as volumes, as parts of projected volumes, and as variables of its containers. Each
 * once.
 */
function secretsOf({ spec: { volumes, containers, initContainers = [] } }: PodTemplate): readonly string[] {
  const mounted = volumes.flatMap(({ secret, projected }) => [
    secret?.secretName,
    ...(projected?.sources.map(source => source.secret?.name) ?? []),
  ])
  const variables = [...initContainers, ...containers].flatMap(({ env = [], envFrom = [] }) => [
    ...envFrom.map(({ secretRef }) => secretRef?.name),
    ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
  ])
  return [...new Set([...mounted, ...variables].filter(name => name !== undefined))].sort()
}

describe.each(['standalone', 'production'])('%s', form => {
  test('every Service with a selector finds a pod of this form', () => {
    const labels = ofKind(form, 'Deployment').map(({ spec }) => Object.entries(spec.template.metadata.labels).map(String))
    const services = ofKind(form, 'Service').filter(({ spec }) => spec.selector !== undefined)
    expect(services.length).toBeGreaterThanOrEqual(4)
    for (const { metadata, spec } of services) {
      const wanted = Object.entries(spec.selector).map(String)
      expect(labels.filter(present => wanted.every(label => present.includes(label))).length, metadata.name).toBe(1)
    }
  })

  test('every container of ours has a read-only root and no privileges, and mounted Secrets are for its group only', () => {
    const templates = ofKind(form, 'Deployment').map(({ spec }) => spec.template)
    for (const { spec } of templates) {
      for (const { securityContext } of spec.containers)
        expect(securityContext).toMatchObject({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
      for (const { secret } of spec.volumes ?? []) if (secret) expect(secret.defaultMode).toBe(0o440)
    }
  })
})

test('each pod of the production form has the Secrets of its level of trust, and no other', () => {
  expect(secretsOf(deployment('production', 'sekisho-broker'))).toEqual(['sekisho-broker-secrets', 'sekisho-broker-tls'])
  // The controllers renew the certificate of admission, and show it to API servers themselves (ADR 0078).
  expect(secretsOf(deployment('production', 'sekisho-controllers'))).toEqual([
    'sekisho-admission-tls',
    'sekisho-controllers-secrets',
    'sekisho-registry-tokens-tls',
  ])
  expect(secretsOf(deployment('production', 'sekisho-admission'))).toEqual(['sekisho-admission-tls'])
  // The accounts of servers are read from the API server, in the one namespace where they are.
  expect(secretsOf(deployment('production', 'sekisho-data-services'))).toEqual([])
  const [job] = ofKind('production/migration', 'Job')
  expect(job && secretsOf(job.spec.template)).toEqual(['sekisho-database-owner'])
})

test('a pod that calls no API server has no token for one', () => {
  const [job] = ofKind('production/migration', 'Job')
  expect(job?.spec.template.spec).toMatchObject({ automountServiceAccountToken: false })
  expect(deployment('production', 'sekisho-admission').spec).toMatchObject({ automountServiceAccountToken: false })
  for (const form of ['standalone', 'production'])
    expect(deployment(form, 'sekisho-network-probe').spec, form).toMatchObject({ automountServiceAccountToken: false })
  // Nor one that is mounted by name.
  for (const { spec } of [deployment('production', 'sekisho-admission'), ...(job ? [job.spec.template] : [])])
    expect(JSON.stringify(spec.volumes)).not.toContain('serviceAccountToken')
})

test('the production form replaces pods one by one, spread over nodes, and a drain leaves one of two', () => {
  const deployments = ofKind('production', 'Deployment').filter(({ metadata }) => metadata.name !== 'sekisho-network-probe')
  expect(deployments).toHaveLength(4)
  for (const { spec } of deployments)
    expect(spec).toMatchObject({ replicas: 2, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } })
  const budgets = ofKind('production', 'PodDisruptionBudget')
  expect(budgets.map(({ metadata }) => metadata.name).sort()).toEqual(deployments.map(({ metadata }) => metadata.name).sort())
  for (const { spec } of budgets) expect(spec).toMatchObject({ maxUnavailable: 1 })
})

test('the authorizer has its certificate and no other Secret, no token, and pods that neither form selects', () => {
  const template = deployment('authorizer', 'sekisho-authorizer')
  expect(secretsOf(template)).toEqual(['sekisho-authorizer-tls'])
  expect(template.spec).toMatchObject({ automountServiceAccountToken: false })
  expect(JSON.stringify(template.spec.volumes)).not.toContain('serviceAccountToken')
  const [{ spec: own } = expect.fail('no Deployment')] = ofKind('authorizer', 'Deployment')
  expect(own).toMatchObject({ replicas: 2, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } })
  const present = Object.entries(template.metadata.labels).map(String)
  for (const form of ['standalone', 'production'])
    for (const { metadata, spec } of ofKind(form, 'Deployment')) {
      const wanted = Object.entries((spec['selector'] as unknown as { matchLabels: object }).matchLabels).map(String)
      expect(
        wanted.every(label => present.includes(label)),
        `${form} ${metadata.name}`,
      ).toBe(false)
    }
  const policies = ofKind('authorizer', 'NetworkPolicy').map(({ spec }) => spec['policyTypes'])
  expect(policies).toEqual([['Ingress'], ['Ingress']])
})

type Policy = {
  readonly podSelector: unknown
  readonly egress?: readonly { readonly ports?: readonly { readonly port: number }[] }[]
}

/** The ports that a policy opens outward. */
function portsOf(form: string, name: string): readonly number[] {
  const policy = ofKind(form, 'NetworkPolicy').find(({ metadata }) => metadata.name === name)?.spec as Policy | undefined
  return [...new Set(policy?.egress?.flatMap(({ ports = [] }) => ports.map(({ port }) => port)))].sort((a, b) => a - b)
}

test('PostgreSQL is open to broker and controllers, the probe to the controllers, and admission reaches nobody', () => {
  expect(portsOf('production', 'sekisho-broker-egress')).toEqual([443, 5432, 6443])
  expect(portsOf('production', 'sekisho-controllers-egress')).toEqual([443, 5432, 6443, 9001, 9002])
  expect(portsOf('production/migration', 'sekisho-migrate')).toEqual([53, 5432])
  const outward = ofKind('production', 'NetworkPolicy').filter(({ spec }) => (spec as { egress?: unknown }).egress !== undefined)
  expect(outward.filter(({ spec }) => JSON.stringify(spec['podSelector']).includes('admission'))).toEqual([])
  for (const form of ['standalone', 'production'])
    expect(ofKind(form, 'NetworkPolicy').find(({ metadata }) => metadata.name === 'sekisho-deny-all')?.spec).toMatchObject({
      podSelector: {},
    })
})
