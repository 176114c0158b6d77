// What a buildpack gets from the lifecycle (CNB buildpack specification, "Environment" of API 0.10). The only reader of the
// environment here.
import { join } from 'node:path'
import { type ApplicationFacts, readApplication } from './application.ts'
import { bindingVariables } from './bindings.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export type BuildContext = {
  /** The folder for layers and their descriptions. */
  readonly layersFolder: string
  readonly appFolder: string
  /** The folder of the buildpack itself. */
  readonly buildpackFolder: string
  /**
   * Of the programs that the buildpack runs: the platform's, the variables of `spec.build.env` and of the named secrets, and a
   * home that exists.
   */
  readonly environment: Environment
  readonly application: ApplicationFacts
  /** Writes a line of the build log. */
  readonly say: (line: string) => void
}

const certificateBundle = '/etc/ssl/certs/ca-certificates.crt'

/** `name`: of the buildpack. */
export function readContext(name: string): BuildContext {
  const environment: Environment = process.env
  const appFolder = process.cwd()
  const layersFolder = environment['CNB_LAYERS_DIR']
  if (!layersFolder) throw new Error('CNB_LAYERS_DIR is not set: run this program under the buildpack lifecycle (API 0.10)')
  const bindings = environment['SERVICE_BINDING_ROOT'] || join(environment['CNB_PLATFORM_DIR'] || '/platform', 'bindings')
  return {
    layersFolder,
    appFolder,
    buildpackFolder: environment['CNB_BUILDPACK_DIR'] || join(import.meta.dirname, '..', name),
    environment: {
      NODE_EXTRA_CA_CERTS: certificateBundle,
      ...environment,
      ...bindingVariables(bindings),
      HOME: environment['HOME'] || '/tmp',
      CI: environment['CI'] || 'true',
    },
    application: readApplication(environment),
    say: line => console.log(`sekisho/${name}: ${line}`),
  }
}
