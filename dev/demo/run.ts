// The demo: its users onboard an organization, deploy an application and meet the access rules, with the real tools only, on
// the running platform. It ends at the first step that fails.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { catalog } from '../cluster/binaries/catalog.ts'
import { ensureBinary } from '../cluster/binaries/ensure-binary.ts'
import { standardErrorProgress } from '../cluster/progress.ts'
import {
  adminKubeconfig,
  type ClusterSettings,
  devClusterFolder,
  readClusterSettings,
  registryHost,
  toolEnvironment,
} from '../cluster/settings.ts'
import { readLocalGitHub } from '../up/github.ts'
import type { DemoContext } from './context.ts'
import { demoPlace } from './place.ts'
import { openPreviewImages } from './preview-images.ts'
import { attackSteps } from './scenario/attacks.ts'
import { firstDaySteps } from './scenario/days/first-day.ts'
import { secondDaySteps } from './scenario/days/second-day.ts'
import { deploySteps } from './scenario/deploy.ts'
import { onboardSteps } from './scenario/onboard.ts'
import { oversightSteps } from './scenario/oversight.ts'
import { previewSteps } from './scenario/previews.ts'
import { bucketSteps } from './scenario/services/buckets.ts'
import { databaseSteps } from './scenario/services/databases.ts'
import { servicePreviewSteps } from './scenario/services/preview.ts'
import { accessSteps } from './scenario/tokens/access.ts'
import { applicationGrantSteps } from './scenario/tokens/application-grant.ts'
import { applicationSecretSteps } from './scenario/tokens/application-secret.ts'
import { approvalSteps } from './scenario/tokens/approval.ts'
import { pushSteps } from './scenario/tokens/push.ts'
import { wallSteps } from './scenario/walls.ts'
import { runSteps } from './steps.ts'
import { person, type ToolPaths } from './tools.ts'

/** Runs all steps, or only those of the main job, and prints each; throws the error of the first step that fails. */
export async function runDemo({ only }: { readonly only?: 'main job' } = {}): Promise<void> {
  const started = performance.now()
  const settings = readClusterSettings()
  const place = await demoPlace(settings)
  const demo = await prepareDemo(place)
  const passed = await runSteps([
    ...onboardSteps(demo),
    ...deploySteps(demo),
    ...(only === undefined
      ? [
          ...firstDaySteps(demo),
          ...secondDaySteps(demo),
          ...databaseSteps(demo),
          ...bucketSteps(demo),
          ...servicePreviewSteps(demo),
          ...previewSteps(demo, openPreviewImages(settings)),
        ]
      : []),
    ...(only === undefined
      ? [...applicationGrantSteps(demo), ...applicationSecretSteps(demo, adminKubeconfig(place)), ...approvalSteps(demo)]
      : []),
    ...accessSteps(demo),
    ...(only === undefined
      ? [...pushSteps(demo), ...oversightSteps(demo), ...attackSteps(demo), ...wallSteps(adminKubeconfig(place))]
      : []),
  ])
  console.log(`demo: ${passed} steps passed in ${((performance.now() - started) / 1000).toFixed(0)} s`)
}

/**
 * Prepares tools and users for the platform of these settings. `homes` is the folder below the state folder for the users'
 * homes.
 */
export async function prepareDemo(settings: ClusterSettings, homes = 'demo'): Promise<DemoContext> {
  const kubernetes = await ensureBinary(catalog.kubernetes, { settings, progress: standardErrorProgress() })
  const github = await readLocalGitHub(settings)
  const authorityFile = join(devClusterFolder(settings), 'pki/ca.crt')
  const tools: ToolPaths = {
    folder: join(settings.stateFolder, homes),
    kubectl: kubernetes.path('kubectl'),
    sekisho: join(settings.repository, 'bin/sekisho'),
    issuer: settings.issuerUrl,
    certificateAuthority: authorityFile,
    cache: settings.cacheFolder,
  }
  const path = `${kubernetes.folder}:${join(settings.repository, 'bin')}:${toolEnvironment()['PATH'] ?? ''}`
  return {
    tools,
    githubWeb: github.web,
    githubApi: github.api,
    baseImage: `${registryHost(settings)}/cnb/run:1`,
    ingressPort: settings.ingressPort,
    repository: settings.repository,
    certificateAuthority: await readFile(authorityFile, 'utf8'),
    personalTokens: github.personalTokens,
    people: {
      olivia: await person(tools, 'olivia', path),
      dave: await person(tools, 'dave', path),
      mia: await person(tools, 'mia', path),
      gary: await person(tools, 'gary', path),
      noah: await person(tools, 'noah', path),
      ada: await person(tools, 'ada', path),
    },
    pushed: [],
    title: '',
  }
}
