// Plays the people through the main job with real tools only, on the platform that runs. Throws at the first broken promise.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { catalog } from '../cluster/binaries/catalog.ts'
import { ensureBinary } from '../cluster/binaries/ensure-binary.ts'
import { standardErrorProgress } from '../cluster/progress.ts'
import { type ClusterSettings, devClusterFolder, readClusterSettings, toolEnvironment } from '../cluster/settings.ts'
import { readLocalGitHub } from '../up/github.ts'
import { runSteps } from './steps.ts'
import { deploySteps } from './story/deploy.ts'
import { onboardSteps } from './story/onboard.ts'
import { wallSteps } from './story/walls.ts'
import { person, type ToolPaths } from './tools.ts'
import type { World } from './world.ts'

export async function runDemo(): Promise<void> {
  const started = performance.now()
  const world = await prepareWorld(readClusterSettings())
  const passed = await runSteps([...onboardSteps(world), ...deploySteps(world), ...wallSteps(world)])
  console.log(`demo: ${passed} steps passed in ${((performance.now() - started) / 1000).toFixed(0)} s`)
}

/** `homes` names the folder below the state folder in which the people have their homes. */
export async function prepareWorld(settings: ClusterSettings, homes = 'demo'): Promise<World> {
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
    ingressPort: settings.ingressPort,
    repository: settings.repository,
    certificateAuthority: await readFile(authorityFile, 'utf8'),
    personalTokens: github.personalTokens,
    people: {
      olivia: await person(tools, 'olivia', path),
      dave: await person(tools, 'dave', path),
      noah: await person(tools, 'noah', path),
      ada: await person(tools, 'ada', path),
    },
    pushed: [],
  }
}
