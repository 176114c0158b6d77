// The command line of the emulator: `start` runs it in the foreground until SIGINT or SIGTERM. Only this file reads options.
import { parseArgs } from 'node:util'
import { defined } from '../../src/lib/json/defined.ts'
import { type EmulatorOptions, startEmulator } from './emulator.ts'

const usage = `Usage: node dev/github/main.ts start [options]
  --state DIR            folder for the state (default .state/github)
  --address ADDRESS      address to listen on (default 10.88.0.1)
  --port PORT            port to listen on (default 4000)
  --public-url URL       URL that clients use (default http://ADDRESS:PORT)
  --webhook-url URL      URL to which the App's webhooks are sent
  --webhook-ca FILE      certificate authorities of the webhook receiver (PEM)
  --callback-url URL     OAuth callback URL of the App (repeatable; the first is the default)
  --setup-url URL        URL to which the browser returns after an installation
  --oauth-on-install     enable "Request user authorization (OAuth) during installation"
  --token-format FORMAT  short (default) or stateless
  --flavour FLAVOUR      enterprise-server (default) or github.com
  --rest-prefix PATH     path of the REST API (default /api/v3)
  --public-api-url URL   URL of the REST API that clients use, such as http://api.HOST:PORT (default public URL + prefix)
  --enforce-rate-limit   refuse more than 5000 requests per hour
  --enforce-bursts       refuse more than 100 concurrent requests, 900 points and 80 content-creating requests per minute
`

function fail(message: string): never {
  process.stderr.write(`${message}\n\n${usage}`)
  process.exit(2)
}

function oneOf<Choice extends string>(name: string, value: string | undefined, choices: readonly [Choice, ...Choice[]]): Choice {
  return value === undefined
    ? choices[0]
    : (choices.find(one => one === value) ?? fail(`--${name} must be one of ${choices.join(', ')}`))
}

function readOptions(args: readonly string[]): EmulatorOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      state: { type: 'string', default: '.state/github' },
      address: { type: 'string', default: '10.88.0.1' },
      port: { type: 'string', default: '4000' },
      'public-url': { type: 'string' },
      'webhook-url': { type: 'string' },
      'webhook-ca': { type: 'string' },
      'callback-url': { type: 'string', multiple: true },
      'setup-url': { type: 'string' },
      'oauth-on-install': { type: 'boolean' },
      'token-format': { type: 'string' },
      flavour: { type: 'string' },
      'rest-prefix': { type: 'string', default: '/api/v3' },
      'public-api-url': { type: 'string' },
      'enforce-rate-limit': { type: 'boolean', default: false },
      'enforce-bursts': { type: 'boolean', default: false },
    },
  })
  if (positionals.length !== 1 || positionals[0] !== 'start') fail('the only command is start')
  const port = Number(values.port)
  if (!Number.isInteger(port) || port < 1 || port > 65_535) fail('--port must be a number from 1 to 65535')
  return {
    stateFolder: values.state,
    address: values.address,
    port,
    ...(values['public-url'] === undefined ? {} : { publicUrl: values['public-url'].replace(/\/$/, '') }),
    ...defined({ webhookCaFile: values['webhook-ca'] }),
    flavour: oneOf('flavour', values.flavour, ['enterprise-server', 'github.com']),
    restPrefix: values['rest-prefix'],
    installationTokenFormat: oneOf('token-format', values['token-format'], ['short', 'stateless']),
    ...(values['public-api-url'] === undefined ? {} : { publicApiUrl: values['public-api-url'].replace(/\/$/, '') }),
    rateLimit: {
      authenticated: 5000,
      anonymous: 60,
      enforced: values['enforce-rate-limit'],
      ...(values['enforce-bursts'] ? { secondary: {} } : {}),
    },
    app: {
      ...defined({
        webhookUrl: values['webhook-url'],
        callbackUrls: values['callback-url'],
        setupUrl: values['setup-url'],
        requestOAuthOnInstall: values['oauth-on-install'],
      }),
    },
    ...defined({ searchPath: process.env['PATH'] }),
    report: message => process.stderr.write(`${message}\n`),
  }
}

function parse(): EmulatorOptions {
  try {
    return readOptions(process.argv.slice(2))
  } catch (error) {
    return fail(error instanceof Error ? error.message : 'the options could not be read')
  }
}

const emulator = await startEmulator(parse())
process.stdout.write(
  `GitHub emulator: ${emulator.url} (REST ${emulator.apiUrl}), App ${emulator.app.slug} ${emulator.app.clientId}\n`,
)

let stopping = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (stopping) return
    stopping = true
    emulator.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`the emulator did not stop cleanly: ${error instanceof Error ? error.message : 'unknown error'}\n`)
        process.exit(1)
      },
    )
  })
}
