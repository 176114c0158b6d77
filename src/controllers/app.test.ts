// The controllers stop in order, however far they have started. The cluster is empty and the store keeps nothing.
import { expect, test } from 'vitest'
import type { KubeClient } from '../kube/client/client.ts'
import { createManager } from '../kube/manager.ts'
import { systemClock } from '../lib/clock.ts'
import type { SecretString } from '../lib/secret-string.ts'
import { silentLog } from '../lib/testing/silent-log.ts'
import type { ControllersStore } from '../store/store.ts'
import { createControllersApp } from './app.ts'
import { readControllersSettings } from './config.ts'

test('an app that was never started can be stopped, also twice', async () => {
  // Creating the app reads whether kpack exists and two keys; everything else happens at the start.
  const kube = { get: async () => undefined } as unknown as KubeClient
  const keys = { find: async () => undefined, getOrCreate: (_name: string, make: () => Promise<SecretString>) => make() }
  const deps = { kube, store: { keys } as unknown as ControllersStore, log: silentLog, clock: systemClock }
  const manager = createManager({ ...deps, client: kube, random: Math.random })
  const settings = readControllersSettings({
    SEKISHO_PUBLIC_URL: 'https://sekisho.example.com',
    SEKISHO_REGISTRY: 'registry.example.com',
    SEKISHO_INGRESS_FROM: 'traefik',
    SEKISHO_REGISTRY_AUTHENTICATION: 'none',
    SEKISHO_INGRESS_CLASS: 'web',
    SEKISHO_APPLICATION_URL: 'https://apps.example.com',
  })
  const app = await createControllersApp({
    mode: 'standalone',
    ...deps,
    kubeWith: () => expect.fail('the app is never started'),
    settings,
    manager,
  })
  await app.stop()
  await expect(app.stop()).resolves.toBeUndefined()
})
