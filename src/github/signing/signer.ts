// The port by which the platform signs as a GitHub App. A signer gives signatures and never its key.

export type Signer = {
  /** RS256 (RSASSA-PKCS1-v1_5 with SHA-256) of the bytes. @throws AppError */
  readonly sign: (bytes: Buffer) => Promise<Buffer>
  /** Whether each signature is a request to a server: then a JWT is used for some minutes. */
  readonly isRemote: boolean
}
