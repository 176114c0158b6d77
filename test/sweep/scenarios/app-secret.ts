// Values are set, changed and removed, and the AppSecret is deleted: pods get each value once, in one version, and nothing is
// left behind.
import { type AppSecret, appSecret } from '../../../src/api/apps/app-secret.ts'
import { secrets } from '../../../src/api/builtin/index.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { type Environment, fieldManager } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { gone, ready } from './waits.ts'

/** As admission stores it; the API server of the sweep has no webhook. */
async function set({ fixture, namespace }: Environment, values: Readonly<Record<string, string | null>>): Promise<void> {
  const name = 'shop'
  const entries = Object.entries(values).map(async ([key, value]) => {
    const sealed = value === null ? null : await fixture.sealValue(new SecretString(value), { namespace, name, key })
    return [key, sealed] as const
  })
  const spec = { sealed: Object.fromEntries(await Promise.all(entries)) }
  if ((await fixture.kube.mergePatch(appSecret, { namespace, name }, { spec }, { fieldManager })) !== undefined) return
  const { apiVersion, kind } = appSecret
  await fixture.kube.apply(appSecret, { apiVersion, kind, metadata: { namespace, name }, spec }, { fieldManager })
}

const stored = (environment: Environment): Promise<AppSecret> => ready(environment, appSecret, 'shop', 'Stored')

/** Sealed text is another one in each run; what it stands for is not. */
async function seen({ fixture, namespace }: Environment): Promise<unknown> {
  const found = await fixture.kube.get(appSecret, { namespace, name: 'shop' })
  const secret = await fixture.kube.get(secrets, { namespace, name: 'appsecret-shop' })
  const versions = found?.status?.keys?.map(({ name, version }) => `${name} ${version}`)
  return { version: found?.status?.version, versions, data: secret?.data, annotations: secret?.metadata.annotations }
}

const environment = { component: 'controllers', namespace: 'made', github: 'none' } as const

export const appSecretScenario: Scenario = {
  name: 'app secret: set, change, remove',
  controllers: ['app-secret'],
  environment,
  async act(environment) {
    await set(environment, { A: 'one', B: 'two' })
    await stored(environment)
    await set(environment, { A: 'three' })
    await stored(environment)
    await set(environment, { B: null, C: 'four' })
    await stored(environment)
  },
  compares: [],
  more: seen,
}

export const appSecretDeletion: Scenario = {
  name: 'app secret: delete',
  controllers: ['app-secret'],
  environment,
  async prepare(environment) {
    await set(environment, { A: 'one' })
    await stored(environment)
  },
  async act(environment) {
    await environment.fixture.kube.delete(appSecret, { namespace: environment.namespace, name: 'shop' })
    await gone(environment, appSecret, 'shop')
    await gone(environment, secrets, 'appsecret-shop')
  },
  compares: [appSecret],
  more: seen,
}
