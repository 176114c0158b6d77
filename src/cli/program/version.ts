// The version of the command line, which is the one of the package.
import manifest from '../../../package.json' with { type: 'json' }

export const version: string = manifest.version
