// The environment of a buildpack (CNB buildpack specification, "Environment" of API 0.10). It is the only reader of the environment here.

export type BuildConfig = {
  /** The folder for layers and their descriptions. */
  readonly layersFolder: string
  readonly appFolder: string
  /** The environment of npm: the platform's, with a home that exists and the image's certificate authorities. */
  readonly environment: Readonly<Record<string, string | undefined>>
}

const certificateBundle = '/etc/ssl/certs/ca-certificates.crt'

export function readConfig(): BuildConfig {
  const layersFolder = process.env['CNB_LAYERS_DIR']
  if (!layersFolder) throw new Error('CNB_LAYERS_DIR is not set: run this program under the buildpack lifecycle (API 0.10)')
  const home = process.env['HOME'] || '/tmp'
  return {
    layersFolder,
    appFolder: process.cwd(),
    environment: { ...process.env, HOME: home, NODE_EXTRA_CA_CERTS: certificateBundle },
  }
}
