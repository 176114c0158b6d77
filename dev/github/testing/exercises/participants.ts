// The participants of the exercises of the REST routes: the clients of the users and of the App on one emulator with one installation.
import type { RunningEmulator } from '../../emulator.ts'
import type { RestClient, RestClients } from '../rest-client.ts'

export type Participants = {
  readonly emulator: RunningEmulator
  readonly clients: RestClients
  /** The App on `acme`, with all repositories. */
  readonly installationId: number
}

/** The client of the person with their personal token. */
export function person({ clients, emulator }: Participants, login: string): RestClient {
  return clients.by(emulator.personalTokens[login] ?? '')
}

/** The client of the App with an installation token that has all permissions of its installation. */
export async function bot({ clients, installationId }: Participants): Promise<RestClient> {
  return clients.by(await clients.mint(installationId))
}
