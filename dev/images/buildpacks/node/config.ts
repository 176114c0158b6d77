// What the lifecycle tells a buildpack (CNB buildpack specification, "Environment" of API 0.10). The only reader of the environment here.

export type BuildConfig = {
  /** Where layers and their descriptions are written. */
  readonly layersFolder: string
  readonly appFolder: string
  /** The environment that npm gets: the platform's own, with a home that exists and the image's certificate authorities. */
  readonly environment: Readonly<Record<string, string | undefined>>
}

const certificateBundle = '/etc/ssl/certs/ca-certificates.crt'

export function readConfig(): BuildConfig {
  const layersFolder = process.env['CNB_LAYERS_DIR']
  if (!layersFolder) throw new Error('CNB_LAYERS_DIR is not set: this program is run by the buildpack lifecycle (API 0.10)')
  const home = process.env['HOME'] || '/tmp'
  return {
    layersFolder,
    appFolder: process.cwd(),
    environment: { ...process.env, HOME: home, NODE_EXTRA_CA_CERTS: certificateBundle },
  }
}
