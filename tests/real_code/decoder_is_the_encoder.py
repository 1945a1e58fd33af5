# What happens: a decoder is made by reversing a list of the encoder's layers, and has those themselves.
# Reported: yassouali/pytorch-segmentation#159
# Call: shared(encoder, decoder)
# Says: encoder.0 and decoder.1 are one object: Linear.
import torch

layers = [torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)]
encoder = torch.nn.Sequential(*layers)
decoder = torch.nn.Sequential(*reversed(layers))
assert decoder[0] is encoder[1]
