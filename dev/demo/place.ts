// Where the demo plays: on the local platform, or with KUBECONFIG on the one that `make up` installed there with the GitHub
// emulator.
import { AppError } from '../../src/lib/errors.ts'
import { catalog } from '../cluster/binaries/catalog.ts'
import { ensureBinary } from '../cluster/binaries/ensure-binary.ts'
import { standardErrorProgress } from '../cluster/progress.ts'
import { type ClusterSettings, givenState } from '../cluster/settings.ts'
import { createKubectl, type Kubectl } from '../up/kubectl.ts'
import { platformNamespace } from '../up/mode.ts'

/** The settings by which everything of that platform is found. */
export async function demoPlace(settings: ClusterSettings): Promise<ClusterSettings> {
  if (settings.givenKubeconfig === undefined) return settings
  const kubernetes = await ensureBinary(catalog.kubernetes, { settings, progress: standardErrorProgress() })
  return givenPlace(settings, createKubectl(kubernetes.path('kubectl'), settings.givenKubeconfig))
}

/** The platform and its GitHub are asked from the cluster: they do not depend on the settings of `make up` being set again. */
async function givenPlace(settings: ClusterSettings, kubectl: Kubectl): Promise<ClusterSettings> {
  const map = (await kubectl.read(['configmap', 'sekisho-settings', '-n', platformNamespace])) as
    | { readonly data?: Readonly<Record<string, string>> }
    | undefined
  const issuerUrl = map?.data?.['SEKISHO_PUBLIC_URL']
  const app =
    issuerUrl === undefined
      ? undefined
      : ((await kubectl.read(['clustergithubapps.github.sekisho.dev', 'github'])) as
          | { readonly spec: { readonly endpoints?: { readonly web: string } } }
          | undefined)
  const web = app?.spec.endpoints?.web
  if (issuerUrl === undefined || web === undefined)
    throw new AppError(
      'invalid_configuration',
      'the demo needs the GitHub emulator, and this cluster has no platform that uses it: make up with SEKISHO_UP_GITHUB_ADDRESS',
    )
  return { ...givenState(settings), nodeAddress: new URL(web).hostname, issuerUrl }
}
