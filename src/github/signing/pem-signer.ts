// Signs with a private key in PEM, as GitHub issues it, which this process holds.
import { createPrivateKey, sign } from 'node:crypto'
import { AppError } from '../../lib/errors.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import type { Signer } from './signer.ts'

/** `sign` throws `invalid_configuration` (reason PrivateKeyUnreadable) for what is not an RSA key in PEM. */
export function pemSigner(pem: SecretString): Signer {
  return {
    isRemote: false,
    async sign(bytes) {
      return sign('RSA-SHA256', bytes, rsaKey(pem))
    },
  }
}

function rsaKey(pem: SecretString) {
  const unreadable = new AppError('invalid_configuration', 'the private key of the GitHub App is not an RSA key in PEM', {
    reason: 'PrivateKeyUnreadable',
  })
  try {
    const key = createPrivateKey(pem.reveal())
    if (key.asymmetricKeyType === 'rsa') return key
  } catch {
    // Its error may quote the text.
    throw unreadable
  }
  throw unreadable
}
