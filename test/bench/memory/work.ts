// What people and workloads do in a memory run, by the tools that they use: pages, command line, pushes by git, requests to the
// API server and to the token desk. About as much as the demo, and enough of each that every part of the platform has worked.
import { Browser } from '../../../dev/demo/browser.ts'
import { onboardAccount } from '../../../dev/demo/scenario/onboard.ts'
import { attemptLogin, passSignIn } from '../../../dev/demo/scenario/sign-in.ts'
import { person } from '../../../dev/demo/tools.ts'
import { appName } from '../../platform/process-plans.ts'
import { createApplications } from '../../soak/applications.ts'
import { createPushes } from '../../soak/pushes.ts'
import { accepted, developer, namespace, paths, untilReady } from '../../soak/tenant.ts'
import { createTokens } from '../../soak/tokens.ts'
import type { MemoryPlatform } from './platform.ts'

export type WorkSizes = {
  readonly signIns: number
  readonly applications: number
  readonly pushes: number
  readonly tokens: number
  readonly reviews: number
}

/** Resolves when all of it was answered; the controllers may still be busy with it. */
export async function doWork(platform: MemoryPlatform, sizes: WorkSizes, signal: AbortSignal): Promise<void> {
  await untilReady(platform, `/apis/github.sekisho.dev/v1alpha1/clustergithubapps/${appName}`)
  await onboard(platform)
  for (let count = 0; count < sizes.signIns; count++) await signInForKubectl(platform)
  const applications = createApplications(platform, signal)
  for (let count = 0; count < sizes.applications; count++) await applications.tick()
  const pushes = await createPushes(platform)
  try {
    for (let count = 0; count < sizes.pushes; count++) await pushes.tick()
  } finally {
    await pushes.close()
  }
  const tokens = await createTokens(platform)
  try {
    for (let count = 0; count < sizes.tokens; count++) await tokens.tick()
    await tokens.end()
  } finally {
    await tokens.close()
  }
  for (let count = 0; count < sizes.reviews; count++) await reviewedWrite(platform, count)
}

async function onboard(platform: MemoryPlatform): Promise<void> {
  const browser = new Browser(platform)
  try {
    await passSignIn(browser, await browser.open(`${platform.tools.issuer}/login`), 'olivia')
    await onboardAccount(browser, platform, { name: namespace, team: 'developers' })
  } finally {
    await browser.close()
  }
}

async function signInForKubectl(platform: MemoryPlatform): Promise<void> {
  const { tools } = platform
  const dave = await person(tools, 'dave', tools.path)
  const { code, said } = await attemptLogin(platform, dave)
  if (code !== 0) throw new Error(`sekisho login: ${said}`)
}

/** A write that the API server has reviewed and does not store. */
async function reviewedWrite({ people }: MemoryPlatform, count: number): Promise<void> {
  const application = {
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'Application',
    metadata: { name: `reviewed-${count}`, namespace },
    spec: { image: `registry.example.com/reviewed@sha256:${'0'.repeat(64)}`, processes: [{ name: 'web', port: 3000 }] },
  }
  accepted(await people.as(developer, 'POST', `${paths.applications}?dryRun=All`, application), 'a dry run')
}
