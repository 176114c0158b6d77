// What the preview of a fork gets of a template.
import { describe, expect, test } from 'vitest'
import type { AppPipeline } from '../../../api/apps/app-pipeline.ts'
import { templateOfFork } from './fork.ts'

type Template = AppPipeline['spec']['template']

const web = {
  name: 'web',
  port: 3000,
  replicas: 5,
  cpu: '2',
  memory: '4Gi',
  autoscaling: { minReplicas: 1, maxReplicas: 9, cpuPercent: 80 },
}
const template = {
  application: {
    chart: 'web',
    processes: [web, { name: 'worker', replicas: 0, cpu: '10m', cpuLimit: '20m', memory: '64Mi', ephemeralStorage: '2Gi' }],
    cron: [{ name: 'tick', schedule: '* * * * *', cpu: '1', memory: '1Gi' }],
    replicas: 3,
    env: [
      { name: 'LOG_LEVEL', value: 'debug' },
      { name: 'DATABASE_URL', from: { secret: { name: 'database', key: 'url' } } },
      { name: 'SANDBOX_KEY', from: { secret: { name: 'sandbox', key: 'key' } } },
    ],
    envFrom: [{ secret: 'database' }, { secret: 'sandbox' }, { configMap: 'database' }, { configMap: 'colours' }],
  },
  source: 'Head',
  build: {
    strategy: 'Buildpacks',
    timeoutSeconds: 900,
    env: [
      { name: 'NODE_ENV', value: 'production' },
      { name: 'NPM_TOKEN', value: 'x' },
    ],
    secrets: ['npm', 'sandbox'],
  },
} as unknown as Template

describe('the preview of a fork', () => {
  test('gets no environment and no AppSecret of the tenant, neither where it is built nor where it runs', () => {
    const { application, build } = templateOfFork(template)
    expect([application.env, application.envFrom, build.env, build.secrets]).toEqual([[], [], [], undefined])
    expect(JSON.stringify([application, build])).not.toMatch(/database|sandbox|npm|NPM/)
  })

  test('gets no build argument but the public ones; where the Dockerfile is stays', () => {
    const args = [
      { name: 'NODE_VERSION', value: '24' },
      { name: 'MIRROR', value: 'https://user:password@mirror.internal' },
    ]
    const build = { ...template.build, dockerfile: { path: 'web/Dockerfile', target: 'run', args } }
    expect(templateOfFork({ ...template, build }).build.dockerfile).toEqual({ path: 'web/Dockerfile', target: 'run', args: [] })
    const open = templateOfFork({ ...template, build, public: { env: ['NODE_VERSION'] } })
    expect(open.build.dockerfile?.args).toEqual([args[0]])
  })

  test('gets no service of the tenant but those that the template says are public', () => {
    const services = ['db', 'sandbox'].map(name => ({ name, instance: `shop-${name}`, access: 'ReadWrite' as const }))
    const own = { ...template, application: { ...template.application, services } }
    expect(templateOfFork(own).application.services).toEqual([])
    expect(templateOfFork({ ...own, public: { services: ['sandbox', 'shop-db'] } }).application.services).toEqual([services[1]])
    expect(templateOfFork(template).application).not.toHaveProperty('services')
    const ofItsOwn = { ...own, services: [{ name: 'db', class: 'postgresql' }] }
    expect(templateOfFork(ofItsOwn).services).toEqual([])
    expect(templateOfFork({ ...ofItsOwn, public: { services: ['db'] } }).services).toEqual(ofItsOwn.services)
  })

  test('gets what the template says is public; a ConfigMap is not public because a secret of its name is', () => {
    const open = { env: ['LOG_LEVEL', 'SANDBOX_KEY', 'NODE_ENV'], secrets: ['sandbox', 'database2'], configMaps: ['colours'] }
    const { application, build } = templateOfFork({ ...template, public: { ...open, secrets: ['sandbox'] } })
    expect(application.env?.map(({ name }) => name)).toEqual(['LOG_LEVEL', 'SANDBOX_KEY'])
    expect(application.envFrom).toEqual([{ secret: 'sandbox' }, { configMap: 'colours' }])
    expect(build.env?.map(({ name }) => name)).toEqual(['NODE_ENV'])
    expect(build.secrets).toBeUndefined()
    const named = templateOfFork({ ...template, public: { secrets: ['database'] } })
    expect(named.application.envFrom).toEqual([{ secret: 'database' }])
  })

  test('is isolated, whatever the template says', () => {
    const own = { ...template, application: { ...template.application, isolated: false } }
    expect([templateOfFork(template), templateOfFork(own)].map(({ application }) => application.isolated)).toEqual([true, true])
  })

  test('is small: one pod of each process, each with a limit', () => {
    const { processes = [], cron = [], replicas } = templateOfFork(template).application
    expect(replicas).toBe(1)
    expect(processes[0]).toEqual({
      ...{ name: 'web', port: 3000, replicas: 1 },
      ...{ cpu: '250m', cpuLimit: '500m', memory: '512Mi', ephemeralStorage: '1Gi' },
    })
    expect(processes[1]).toMatchObject({ replicas: 0, cpu: '10m', cpuLimit: '20m', memory: '64Mi', ephemeralStorage: '1Gi' })
    expect(cron[0]).toMatchObject({ cpu: '250m', cpuLimit: '500m', memory: '512Mi' })
  })

  test('leaves out what the template leaves out', () => {
    const { application, build } = templateOfFork({
      ...template,
      application: { chart: 'web' },
      build: { strategy: 'Buildpacks', timeoutSeconds: 1 },
    } as Template)
    expect(application).toEqual({ chart: 'web', isolated: true })
    expect(build).toEqual({ strategy: 'Buildpacks', timeoutSeconds: 1 })
  })
})
