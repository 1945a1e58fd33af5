# What happens: an output layer is tied to an embedding; a later line gives the embedding new weights.
# Reported: NVIDIA/Megatron-LM#656, huggingface/peft#2972
# Call: steps
# Says: until now
import torch

embed, out = torch.nn.Embedding(4, 3), torch.nn.Linear(3, 4, bias=False)
out.weight = embed.weight
embed.weight = torch.nn.Parameter(embed.weight.detach().clone())
assert out.weight is not embed.weight
