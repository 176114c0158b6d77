// What the commands on applications start from: the cluster with the person's own rights, and the platform's API for the few
// that need it.
import type { KubeConnection } from '../../kube/client/connection.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { createKubeClient } from '../../kube/client/kube-client.ts'
import type { Clock } from '../../lib/clock.ts'
import { systemClock } from '../../lib/clock.ts'
import { isAppError } from '../../lib/errors.ts'
import type { CliFlags } from '../config.ts'
import type { Cluster } from '../kubernetes/cluster.ts'
import { type Destination, explained } from '../kubernetes/explained-error.ts'
import { kubernetesConnection } from '../kubernetes/kubernetes-connection.ts'
import { ownPluginFlags } from '../kubernetes/own-plugin.ts'
import { type KubeconfigFlags, resolveKubeconfig } from '../kubernetes/resolved-kubeconfig.ts'
import { currentTokens } from '../login/current-tokens.ts'
import type { Terminal } from '../output.ts'
import type { PlatformApi } from '../platform-api.ts'
import { type CommandContext, type OpenContext, openContext } from './context.ts'

export type ClusterFlags = CliFlags & KubeconfigFlags

export type ClusterContext = {
  readonly terminal: Terminal
  readonly clock: Clock
  readonly cluster: Cluster
  /** For what the client of the cluster cannot do: attaching to a pod. */
  readonly connection: KubeConnection
  /** The platform's API, with a valid token. Rejects with `unauthenticated` without a login. */
  readonly api: () => Promise<PlatformApi>
}

/**
 * Runs a command on the cluster of the kubeconfig and closes all connections afterwards. What the API server refuses gets its
 * cure here.
 */
export async function withCluster(
  flags: ClusterFlags,
  terminal: Terminal,
  work: (context: ClusterContext) => Promise<void>,
): Promise<void> {
  const resolved = await resolveKubeconfig(flags)
  const own = ownPluginFlags(resolved)
  let account: Promise<OpenContext> | undefined
  // The platform of the context is meant, unless a flag names another one.
  const opened = (): Promise<OpenContext> => {
    account ??= openContext({ issuer: flags.issuer ?? own?.issuer, caFile: flags.caFile ?? own?.caFile }, terminal)
    return account
  }
  const ownToken = async (): Promise<string> => (await currentTokens((await opened()).context)).idToken
  const connection = await kubernetesConnection(resolved, own === undefined ? undefined : ownToken)
  const client = createKubeClient({ connection, component: 'cli', clock: systemClock, random: Math.random })
  const { namespace, context } = resolved
  const destination: Destination = { server: connection.server.origin, context, namespace, signsInWithUs: own !== undefined }
  const api = async (): Promise<PlatformApi> => (await opened()).context.api()
  try {
    await work({ terminal, clock: systemClock, cluster: { client, namespace, destination }, connection, api })
  } catch (error) {
    const inWords = await explained(error, destination)
    if (isKubeError(error, 401) && own !== undefined) await askTime((await opened()).context)
    throw account === undefined ? inWords : await (await account).explained(inWords)
  } finally {
    await client.close()
    if (account !== undefined) await (await account).close()
  }
}

/** An answer of the platform has the time, by which a token that seems not to be valid is explained. */
async function askTime({ settings, connection }: CommandContext): Promise<void> {
  try {
    await (await connection()).fetch(new URL('/.well-known/openid-configuration', settings.issuer))
  } catch (error) {
    // Without an answer the refusal itself counts.
    if (!isAppError(error)) throw error
  }
}
